"""The public keys of other issuers: from a file, an address, or by OpenID Connect discovery.

What was read last is kept while a server is away. Nothing here decides about a token.
"""

import json
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from slipring.control.http_fetch import FetchError, fetch
from slipring.control.token_sections import IssuerSection, is_trusted_address
from slipring.errors import PlanError
from slipring.native import read_token_keys

KEYS_BYTES_MAX = 256 << 10
DISCOVERY = "/.well-known/openid-configuration"
REFRESH_S = 10.0
"""Tokens with unknown keys make us fetch at most once in so many seconds, and a few times more."""
REFRESH_BURST = 3


class KeySource:
    """The keys of one issuer; any thread may read them again, one at a time."""

    def __init__(self, section: IssuerSection) -> None:
        """Nothing is read yet."""
        self.section = section
        self.text: str = '{"keys": []}'
        self.trouble: str | None = "its keys were not read yet"
        """Why the keys are not the newest."""
        self.refused: list[str] = []
        """Keys of the set that cannot check tokens, and why."""
        # Held while keys are fetched, so that those who wait for them get what one fetch found.
        self._reading = threading.Lock()
        self._file_stamp: tuple[int, ...] | None = None
        self._began_s = float("-inf")
        self._fetched_s: float | None = None
        self._left = float(REFRESH_BURST)
        self._counted_s = time.monotonic()

    def read(self) -> bool:
        """Read the keys; whether they have changed. Takes a while if they are elsewhere."""
        with self._reading:
            return self._read()

    def read_if_allowed(self, asked_s: float) -> bool:
        """Read the keys for a token whose key is unknown, not more often than is fair.

        The token came at `asked_s`; keys that were read since are new enough.
        """
        with self._reading:
            if self._began_s > asked_s:
                return True  # somebody else has read them meanwhile
            if self.section.is_remote and not self._may_fetch(time.monotonic()):
                return False
            return self._read()

    @property
    def is_due(self) -> bool:
        """Whether the keys are to be read again: the file has changed, or they are old.

        Keys that are being fetched are not.
        """
        if self._reading.locked():
            return False
        if not self.section.is_remote:
            return self._stamp() != self._file_stamp
        age_s = self.section.cache_s if self.trouble is None else min(self.section.cache_s, 5)
        return self._fetched_s is None or time.monotonic() >= self._fetched_s + age_s

    def _may_fetch(self, now_s: float) -> bool:
        self._left = min(REFRESH_BURST, self._left + (now_s - self._counted_s) / REFRESH_S)
        self._counted_s = now_s
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def _read(self) -> bool:
        self._began_s = time.monotonic()
        try:
            text = self._fetched() if self.section.is_remote else self._from_file()
            _, self.refused = read_token_keys(text)
        except (FetchError, OSError, ValueError, PlanError, RecursionError) as error:
            self.trouble = str(error)
            return False
        finally:
            self._fetched_s = time.monotonic()
        self.trouble = None
        before, self.text = self.text, text
        return before != text

    def _from_file(self) -> str:
        self._file_stamp = self._stamp()
        with Path(self.section.keys).open("rb") as file:
            return _text(file.read(KEYS_BYTES_MAX + 1))

    def _fetched(self) -> str:
        return _text(self._get(self._address()))

    def _address(self) -> str:
        if not self.section.discovery:
            return self.section.keys
        found = json.loads(_text(self._get(self.section.issuer.rstrip("/") + DISCOVERY)))
        if not isinstance(found, dict) or found.get("issuer") != self.section.issuer:
            raise FetchError("discovery names another issuer")
        address = found.get("jwks_uri")
        if not isinstance(address, str) or not is_trusted_address(address):
            raise FetchError("discovery names no address of keys that is https")
        if urlsplit(address).scheme == "http" and not self.section.issuer.startswith("http:"):
            raise FetchError("discovery over https names keys over plain http")
        return address

    def _get(self, address: str) -> bytes:
        section = self.section
        return fetch(
            address,
            timeout_s=section.timeout_ms / 1_000,
            bytes_max=KEYS_BYTES_MAX,
            ca=section.ca,
        )

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            found = Path(self.section.keys).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size


def _text(content: bytes) -> str:
    if len(content) > KEYS_BYTES_MAX:
        raise FetchError(f"a set of keys has at most {KEYS_BYTES_MAX} bytes")
    return content.decode()
