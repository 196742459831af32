"""The tokens of `slipring login`: one for each broker, in a file that only its owner can read."""

import contextlib
import fcntl
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slipring.cli.display import printable
from slipring.client.connecting import URL
from slipring.credentials import token_end_s
from slipring.errors import ConnectError, SecretError
from slipring.native import check_secret_file

PORTS = {"mqtt": 1883, "mqtts": 8883, "ws": 80, "wss": 443, "http": 80, "https": 443}
BROKERS = ("mqtt", "mqtts", "ws", "wss")
SOON_S = 600
"""A token that ends earlier than this is told of."""


def store_file() -> Path:
    """Where tokens are kept: below XDG_STATE_HOME, on a Mac in Application Support."""
    home = Path.home()
    usual = home / ".local" / "state"
    if sys.platform == "darwin":
        usual = home / "Library" / "Application Support"
    return Path(os.environ.get("XDG_STATE_HOME") or usual) / "slipring" / "tokens.json"


def broker_key(url: str) -> str:
    """An address as it is kept: in small letters, with its port, without its path."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS:
        return url
    try:
        port = parts.port or PORTS[parts.scheme]
    except ValueError:
        return url
    host = (parts.hostname or "").lower()
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def check_address(url: str) -> None:
    """Refuse an address that no command could use, before anything is kept for it."""
    if url.startswith("unix:"):
        return
    parts = urlsplit(url)
    if parts.scheme not in BROKERS or not parts.hostname:
        raise ConnectError(f"'{printable(url)}' is not the address of a broker, such as {URL}")
    if parts.username is not None:
        raise ConnectError("an address has no user name in it; give --user beside it")


def stored_token(url: str, *, told: bool = False) -> bytes | None:
    """The token for an address; None if there is none. Raises SecretError if it has ended.

    With `told`, a line on standard error says so if it ends soon.
    """
    token = _read().get(broker_key(url))
    if not isinstance(token, str):
        return None
    end_s = token_end_s(token.encode())
    left_s = SOON_S if end_s is None else end_s - time.time()
    if left_s <= 0:
        raise SecretError(f"your login at {url} has ended; run: slipring login {url}")
    if told and left_s < SOON_S:
        print(
            f"slipring: your login at {url} ends in {left_s:,.0f} s; run: slipring login {url}",
            file=sys.stderr,
        )
    return token.encode()


def keep_token(addresses: list[str], token: str) -> None:
    """Keeps a token for a broker, under each of its addresses."""
    with _locked():
        kept = _read()
        kept.update({broker_key(url): token for url in addresses})
        _write(kept)


def forget_token(url: str) -> bool:
    """Forgets a broker's token under all its addresses; False if there was none."""
    with _locked():
        kept = _read()
        token = kept.get(broker_key(url))
        if token is None:
            return False
        _write({key: one for key, one in kept.items() if one != token})
        return True


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """Let no other login change the file meanwhile: it would lose what this one writes."""
    folder = store_file().parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read() -> dict[str, Any]:
    file = store_file()
    if not file.exists():
        return {}
    check_secret_file(file)
    try:
        kept = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        kind = type(error).__name__
        raise SecretError(f"{file} cannot be read ({kind}); remove it and log in again") from None
    return kept if isinstance(kept, dict) else {}


def _write(kept: dict[str, Any]) -> None:
    """Replaces the file as a whole, so that nobody reads half of it."""
    file = store_file()
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".tokens-")  # made with 0600
    try:
        with os.fdopen(descriptor, "w") as stream:
            json.dump(kept, stream, indent=1)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
