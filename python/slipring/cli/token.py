"""`slipring token`: makes, shows and revokes tokens of the broker's own, and rotates their keys."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipring.errors import TokenError

if TYPE_CHECKING:
    from slipring.control import Config

token: typer.Typer = typer.Typer(
    help="Make, show and revoke tokens; rotate the keys that sign them.", no_args_is_help=True
)

ConfigFile = Annotated[Path | None, typer.Option(help="The broker's TOML file.")]
DataFolder = Annotated[Path | None, typer.Option(help="The broker's data folder.")]

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@token.command()
def issue(
    *,
    user: Annotated[str, typer.Option(help="The user that the token names.")],
    role: Annotated[list[str] | None, typer.Option(help="A role; give it several times.")] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE; a name twice is a list.")
    ] = None,
    lasts: Annotated[
        str | None, typer.Option("--for", help="How long it lasts: 90s, 15m, 8h, 30d.")
    ] = None,
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Print a token that names a user. Whoever has it is that user until it ends.

    It needs to read the keys in the broker's data folder; the broker itself need not run.

    For example:

        slipring token issue --user anna --role engineer --for 8h --config broker.toml
    """
    from slipring.control.token_issuing import issue as sign

    found = _config(config, data)
    if not found.token.enabled:
        _say("note: the broker accepts this token once [token] has enabled = true")
    made = sign(
        _folder(found),
        found.token,
        user,
        roles=role or (),
        claims=_claims(claim or []),
        lifetime_s=_seconds(lasts) if lasts else None,
    )
    _say(f"id {made.id}, until {_time(made.expires_s)}")
    print(made.text)


@token.command()
def show(config: ConfigFile = None, data: DataFolder = None) -> None:
    """Read a token from standard input; print what it says, and whether the broker accepts it.

    For example:

        slipring token show --config broker.toml < token.txt
    """
    from slipring.control.token_text import decoded
    from slipring.control.tokens import Tokens

    text = sys.stdin.buffer.readline(64 << 10).strip()
    print(json.dumps(decoded(text), indent=2, ensure_ascii=True))
    tokens = Tokens(_config(config, data), lambda _: None)
    tokens.fetch_due()
    try:
        found = tokens.rules.verify(text, int(time.time()))
    except TokenError as error:
        print(f"refused: {error}")
        raise typer.Exit(1) from None
    roles = ", ".join(found["roles"]) or "none of its own"
    print(f"accepted: user {found['user']}, roles {roles}, until {_time(found['expires_s'])}")


@token.command()
def revoke(
    token_id: Annotated[str | None, typer.Argument(help="The token's id (`jti`).")] = None,
    user: Annotated[
        str | None, typer.Option(help="All tokens of this user that were made until now.")
    ] = None,
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Take tokens back. A running broker ends their connections within a second.

    For example:

        slipring token revoke 5f0c1d... --config broker.toml

        slipring token revoke --user anna --config broker.toml
    """
    from slipring.control.token_folder import KEPT_S

    if (token_id is None) == (user is None):
        raise TokenError("name either the id of a token or --user NAME")
    folder, now_s = _folder(_known(config, data)), int(time.time())
    if user is not None:
        folder.revoke_user(user, now_s)
        print(f"revoked: all tokens of {user} made until {_time(now_s)}")
    elif token_id is not None:
        folder.revoke_token(token_id, now_s + KEPT_S)
        print(f"revoked: {token_id}")


@token.command()
def rotate(
    at_once: Annotated[
        bool, typer.Option("--now", help="Earlier keys check no more: their tokens are refused.")
    ] = False,
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Make a new key that signs from now on; the earlier ones check until their tokens end.

    For example:

        slipring token rotate --config broker.toml
    """
    made = _folder(_known(config, data)).rotate(time.time(), keeps=not at_once)
    print(f"signs from now on: {made.id}")


@token.command()
def keys(config: ConfigFile = None, data: DataFolder = None) -> None:
    """Print the public keys (JWKS), for others who check our tokens.

    For example:

        slipring token keys --config broker.toml > jwks.json
    """
    found = _folder(_config(config, data)).all_keys()
    print(json.dumps({"keys": [json.loads(key.public) for key in found]}, indent=2))


def _config(config: Path | None, data: Path | None) -> "Config":
    from slipring.control import load_config

    return load_config(config, data=data)


def _known(config: Path | None, data: Path | None) -> "Config":
    """The same, if there is such a broker: what is taken back elsewhere would still be accepted."""
    found = _config(config, data)
    if config is None and data is None and not found.token_folder.exists():
        raise TokenError(
            f"there are no tokens in {found.token_folder}, and nothing is changed; name the broker "
            "with --config FILE or --data DIR"
        )
    return found


def _folder(config: "Config") -> Any:
    from slipring.control.token_folder import TokenFolder

    return TokenFolder(config.token_folder)


def _claims(pairs: list[str]) -> dict[str, Any]:
    claims: dict[str, Any] = {}
    for pair in pairs:
        name, found, value = pair.partition("=")
        if not (name and found):
            raise TokenError(f"a claim is NAME=VALUE, not '{pair}'")
        if name in claims:
            earlier = claims[name]
            claims[name] = [*(earlier if isinstance(earlier, list) else [earlier]), value]
        else:
            claims[name] = value
    return claims


def _seconds(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not number.isdecimal():
        raise TokenError(f"'{text}' is no duration; write 90s, 15m, 8h or 30d")
    return int(number) * UNITS[unit]


def _time(at_s: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(at_s))


def _say(text: str) -> None:
    print(text, file=sys.stderr)
