"""The folder of our own tokens: signing keys and what was revoked. Each file is replaced whole.

Commands and the running broker use it at the same time; a lock file keeps them in turn.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slipring.control.folder import make_private
from slipring.control.token_sections import LIFETIME_MAX_S
from slipring.control.trusted_file import open_file, refuse_open
from slipring.errors import ConfigError, PlanError, TokenError
from slipring.native import make_token_key, public_token_key

KEYS, REVOKED, LOCK = "keys.json", "revoked.json", "lock"
KIND_OF = {KEYS: "keys that sign tokens", REVOKED: "what was revoked"}
REVOKED_MAX = 100_000
"""Tokens, and users, that can be revoked at once; those that have ended are forgotten."""
KEPT_S = 2 * LIFETIME_MAX_S
"""A revocation is forgotten after so long: no token lasts as long."""
KEYS_MAX = 64
ROUND_S = 3_600
"""The end of a key's tokens is noted in steps, so that few tokens make it written again."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key of ours; the newest signs, all of them check."""

    private: str
    """The private key as a JSON Web Key; never shown."""
    made_s: int
    ends_s: int
    """Its last token has ended by then."""

    @property
    def id(self) -> str:
        """The key identifier."""
        return public_token_key(self.private)[0]

    @property
    def public(self) -> str:
        """The public key as a JSON Web Key."""
        return public_token_key(self.private)[1]


@dataclass(frozen=True, slots=True)
class Revoked:
    """What was taken back."""

    tokens: dict[str, int]
    """By token identifier: when it can be forgotten."""
    users: dict[str, int]
    """By user: tokens made until this second are not accepted."""


class TokenFolder:
    """Signing keys and revocations in one folder, for its owner only."""

    def __init__(self, path: Path) -> None:
        """Use this folder; it is made at the first write."""
        self.path = path

    def all_keys(self) -> list[SigningKey]:
        """All keys, oldest first; empty before the first use."""
        stored = self._read(KEYS)
        if stored is None:
            return []
        try:
            found = [
                SigningKey(json.dumps(one["key"]), int(one["made_s"]), int(one["ends_s"]))
                for one in stored["keys"]
            ]
            for key in found:
                public_token_key(key.private)
        except (KeyError, TypeError, ValueError, PlanError):
            raise TokenError(self._damaged(KEYS)) from None
        return found

    def key_until(self, ends_s: int) -> SigningKey:
        """The key that signs a token with this end; the first one is made here.

        The end is noted before the token is signed, so that the key is kept as long.
        """
        keys = self.all_keys()
        if keys and keys[-1].ends_s >= ends_s:
            return keys[-1]
        until_s = -(-ends_s // ROUND_S) * ROUND_S
        with self._locked():
            *earlier, newest = self.all_keys() or [_made(time.time())]
            noted = replace(newest, ends_s=max(newest.ends_s, until_s))
            self._write_keys([*earlier, noted])
        return noted

    def rotate(self, now_s: float, *, keeps: bool = True) -> SigningKey:
        """Make a new key that signs from now on; earlier ones check until their tokens end.

        Without `keeps` they are removed, and their tokens are refused at once.
        """
        with self._locked():
            live = [key for key in self.all_keys() if key.ends_s > now_s] if keeps else []
            kept = live[-KEYS_MAX + 1 :]
            made = _made(now_s)
            self._write_keys([*kept, made])
        return made

    def revoked(self) -> Revoked:
        """What was taken back. A damaged file is an error: it must not mean that nothing was."""
        stored = self._read(REVOKED)
        if stored is None:
            return Revoked({}, {})
        try:
            tokens = {str(name): int(at_s) for name, at_s in stored["tokens"].items()}
            users = {str(name): int(at_s) for name, at_s in stored["users"].items()}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise TokenError(self._damaged(REVOKED)) from None
        return Revoked(tokens, users)

    def revoke_token(self, token_id: str, ends_s: int) -> None:
        """Take a token back; it is forgotten after its end."""
        with self._locked():
            found = self.revoked()
            self._write_revoked(Revoked(found.tokens | {token_id: ends_s}, found.users))

    def revoke_user(self, user: str, until_s: int) -> None:
        """Take back all tokens of a user that were made until now."""
        self.revoke_users([user], until_s)

    def revoke_users(self, users: Iterable[str], until_s: int) -> None:
        """The same for several users, at once."""
        with self._locked():
            found = self.revoked()
            revoked = dict.fromkeys(users, until_s)
            self._write_revoked(Revoked(found.tokens, found.users | revoked))

    def stamp(self) -> tuple[object, ...]:
        """What changes when a file is replaced."""
        return tuple(_stamp(self.path / name) for name in (KEYS, REVOKED))

    def _write_keys(self, keys: list[SigningKey]) -> None:
        listed = [
            {"key": json.loads(key.private), "made_s": key.made_s, "ends_s": key.ends_s}
            for key in keys
        ]
        self._write(KEYS, {"keys": listed})

    def _write_revoked(self, revoked: Revoked) -> None:
        now_s = time.time()
        tokens = {name: ends_s for name, ends_s in revoked.tokens.items() if ends_s > now_s}
        users = {name: at_s for name, at_s in revoked.users.items() if at_s > now_s - KEPT_S}
        if max(len(tokens), len(users)) > REVOKED_MAX:
            raise TokenError(
                f"{REVOKED_MAX} tokens or users are revoked already; rotate the keys instead: "
                "slipring token rotate --now"
            )
        self._write(REVOKED, {"tokens": tokens, "users": users})

    def _read(self, name: str) -> Any:
        file = self.path / name
        try:
            with open_file(file) as stream:
                refuse_open(file, os.fstat(stream.fileno()), KIND_OF[name])
                return json.load(stream)
        except FileNotFoundError:
            return None
        except ConfigError as error:
            raise TokenError(str(error)) from None
        except OSError as error:
            raise TokenError(f"cannot read {file}: {error.strerror}") from None
        except ValueError:
            raise TokenError(self._damaged(name)) from None

    def _write(self, name: str, content: dict[str, Any]) -> None:
        file = self.path / name
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump(content, out)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            make_private(self.path.parent)
            make_private(self.path)
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise TokenError(f"cannot write to {self.path}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _damaged(self, name: str) -> str:
        return f"{self.path / name} is damaged; restore it from a copy"


def _made(now_s: float) -> SigningKey:
    return SigningKey(make_token_key(secrets.token_bytes(32)), int(now_s), int(now_s))


def _stamp(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
