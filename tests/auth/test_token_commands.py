"""`slipring token`: makes, shows and revokes tokens, and rotates keys, without a broker."""

import asyncio
import json
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

from slipring.control import Broker, Config, load_config, token_folder
from slipring.control.token_folder import TokenFolder
from slipring.control.token_issuing import issue
from slipring.control.tokens import Tokens
from slipring.errors import TokenError
from slipring.native import TokenRules
from tests.auth.jwt_signer import ISSUER, Signer, claims, jwks
from tests.auth.token_peers import command, run_command, token_id

CONFIG = """
[token]
enabled = true
audience = "bus"

[[issuer]]
name = "company"
issuer = "{issuer}"
keys = "{folder}/jwks.json"
audience = ["bus"]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "broker.toml"
    file.write_text(CONFIG.format(folder=tmp_path, issuer=ISSUER))
    (tmp_path / "jwks.json").write_text('{"keys": []}')
    return file


def test_a_token_is_made_and_shown(config: Path, tmp_path: Path) -> None:
    options = ("--role", "engineer", "--claim", "site=a", "--claim", "site=b", "--for", "8h")
    token = command(config, tmp_path / "data", "issue", "--user", "anna", *options)
    shown = command(config, tmp_path / "data", "show", given=token.encode())
    decoded, _ = json.JSONDecoder().raw_decode(shown)
    found = decoded["claims"]
    assert (found["sub"], found["roles"], found["site"]) == ("anna", ["engineer"], ["a", "b"])
    assert (found["aud"], found["exp"] - found["iat"]) == ("bus", 8 * 3_600)
    assert "accepted: user anna, roles engineer, until " in shown


def test_keys_and_revocations_are_for_their_owner_only(config: Path, tmp_path: Path) -> None:
    command(config, tmp_path / "data", "issue", "--user", "anna")
    command(config, tmp_path / "data", "revoke", "--user", "anna")
    folder = tmp_path / "data" / "tokens"
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == {"keys.json": 0o600, "revoked.json": 0o600, "lock": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    shown = command(config, tmp_path / "data", "keys")
    assert "d" not in json.loads(shown)["keys"][0]  # only the public part


def test_show_says_why_a_token_would_be_refused(config: Path, tmp_path: Path) -> None:
    signer = Signer(tmp_path, "RS256", "one")
    (tmp_path / "jwks.json").write_text(jwks(signer))
    own = command(config, tmp_path / "data", "issue", "--user", "anna").encode()
    command(config, tmp_path / "data", "revoke", token_id(config, tmp_path / "data", own))
    rows = [
        (signer.token(claims()), "accepted: user anna"),
        (signer.token(claims(lasts_s=-60)), "refused: the token has ended"),
        (signer.token(claims(aud="other")), "refused: the token is for another audience"),
        (signer.token(claims(iss="https://x")), "refused: the token's issuer is not known here"),
        (signer.token(claims())[:-8] + b"AAAAAAAA", "refused: the token's signature is wrong"),
        (own, "refused: the token was revoked"),
        (b"pencil", "this is not a token"),
    ]
    for token, said in rows:
        done = run_command(config, tmp_path / "data", "show", given=token)
        assert said in (done.stdout + done.stderr).decode()
        assert (done.returncode == 0) == said.startswith("accepted")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["issue", "--user", "anna", "--for", "8 hours"], "no duration"),
        (["issue", "--user", "anna", "--for", "0s"], "1 to"),
        (["issue", "--user", "anna", "--for", "4000d"], "1 to"),
        (["issue", "--user", "anna", "--claim", "site"], "NAME=VALUE"),
        (["issue", "--user", "anna", "--claim", "exp=9"], "is set by the issuer"),
        (["issue", "--user", ""], "too long"),
        (["revoke"], "either the id"),
        (["revoke", "7", "--user", "anna"], "either the id"),
    ],
)
def test_a_mistake_is_told_in_words(
    config: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = run_command(config, tmp_path / "data", *arguments)
    assert done.returncode != 0
    assert said in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_an_earlier_key_stays_until_its_last_token_has_ended(tmp_path: Path) -> None:
    folder = TokenFolder(tmp_path / "tokens")
    first = folder.key_until(int(time.time()) + 5_000)
    second = folder.rotate(first.made_s + 1)
    assert [key.id for key in folder.all_keys()] == [first.id, second.id]
    third = folder.rotate(first.made_s + 100_000)
    assert [key.id for key in folder.all_keys()] == [third.id]  # the second has signed nothing
    assert folder.key_until(third.made_s).id == third.id


def test_a_configuration_whose_folder_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    good, bad = (
        Config.model_validate({"data": tmp_path / name, "token": {"enabled": True}})
        for name in ("good", "bad")
    )
    text = issue(TokenFolder(good.token_folder), good.token, "anna").text.encode()
    issue(TokenFolder(bad.token_folder), bad.token, "anna")
    (bad.token_folder / "keys.json").write_text("{")
    applied: list[TokenRules] = []
    tokens = Tokens(good, applied.append)
    with pytest.raises(TokenError, match="damaged"):
        tokens.follow(bad)
    tokens.poll()
    assert not applied
    assert tokens.rules.verify(text, int(time.time()))["user"] == "anna"


async def ended(broker: Broker) -> None:
    stop = asyncio.Event()
    stop.set()
    await broker.run(stop)


def test_the_control_plane_makes_and_checks_tokens(config: Path, tmp_path: Path) -> None:
    broker = Broker(
        load_config(
            config, data=tmp_path / "data", mqtt__listen="127.0.0.1:0", console__listen="off"
        )
    )
    try:
        made = broker.issue_token("anna", ["engineer"], {"site": "a"}, 60)
        found = broker.verify_token(made.text)
        assert (found["user"], found["roles"], found["id"]) == ("anna", ["engineer"], made.id)
        assert ("site", "a") in found["claims"]
        with pytest.raises(TokenError, match="signature"):
            broker.verify_token(made.text[:-8] + "AAAAAAAA")
        broker.tokens.folder.revoke_token(made.id, made.expires_s)
        broker.tokens.poll()
        with pytest.raises(TokenError, match="revoked"):
            broker.verify_token(made.text)
        with pytest.raises(TokenError):
            broker.issue_token("a\nb")
    finally:
        asyncio.run(ended(broker))


def test_what_is_revoked_while_a_plan_is_made_is_not_undone_by_the_plan(
    config: Path, tmp_path: Path
) -> None:
    found = load_config(
        config, data=tmp_path / "data", mqtt__listen="127.0.0.1:0", console__listen="off"
    )
    broker = Broker(found)
    applied: list[object] = []
    try:
        made = broker.issue_token("anna")
        text = made.text.encode()
        apply_plan, apply_rules = broker.engine.apply, broker.engine.apply_tokens

        class RevokingEngine:
            """The engine; a token is revoked just before it gets a plan."""

            def __getattr__(self, name: str) -> Any:
                return getattr(engine, name)

            def apply(self, plan: Any) -> None:
                broker.tokens.folder.revoke_token(made.id, made.expires_s)
                broker.tokens.poll()
                apply_plan(plan)
                applied.append("an older plan")

            def apply_tokens(self, rules: TokenRules) -> None:
                apply_rules(rules)
                applied.append(rules)

        engine = broker.engine
        broker.engine = cast("Any", RevokingEngine())
        asyncio.run(broker.reload(lambda: found))
        broker.engine = engine
        last = applied[-1]
        assert isinstance(last, TokenRules), "the plan came last"
        with pytest.raises(TokenError, match="revoked"):
            last.verify(text, int(time.time()))
    finally:
        asyncio.run(ended(broker))


def test_old_revocations_are_forgotten_and_a_full_list_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, now_s = TokenFolder(tmp_path / "tokens"), int(time.time())
    folder.revoke_user("long ago", now_s - token_folder.KEPT_S)
    folder.revoke_user("anna", now_s)
    assert folder.revoked().users == {"anna": now_s}
    monkeypatch.setattr(token_folder, "REVOKED_MAX", 2)
    folder.revoke_users(["ben"], now_s)
    with pytest.raises(TokenError, match="rotate --now"):
        folder.revoke_users(["cecilia"], now_s)


@pytest.mark.parametrize("words", [("revoke", "--user", "anna"), ("rotate",)])
def test_who_names_no_broker_changes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """It made a folder of its own, and said that the tokens were revoked."""
    monkeypatch.chdir(tmp_path)
    typed = [sys.executable, "-m", "slipring", "token", *words]
    done = subprocess.run(typed, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "name the broker with --config FILE or --data DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []
