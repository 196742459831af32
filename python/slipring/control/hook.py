"""Asks a customer's own service whether a client is let in. Never lets anybody in by itself."""

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from slipring.control.http_fetch import FetchError, fetch
from slipring.control.token_sections import HookSection

ANSWER_BYTES_MAX = 64 << 10
REMEMBERED_MAX = 10_000
"""Clients that were allowed, and as many that were denied: invented names push out no others."""
KNOWN_S = 24 * 3_600.0
"""How long somebody stays known while the service is away."""
NAMES_MAX = 64
NAME_CHARACTERS_MAX = 256


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What the service said about a client."""

    is_allowed: bool
    who: dict[str, Any] | None
    """Its user, roles, claims and `expires_s`, if it is allowed."""
    at_s: float
    """When, by the monotonic clock."""

    def who_now(self, now_s: float) -> dict[str, Any] | None:
        """The same, with the seconds that are left."""
        if self.who is None or self.who["expires_s"] is None:
            return self.who
        return self.who | {"expires_s": self.who["expires_s"] - (now_s - self.at_s)}

    def is_over(self, now_s: float) -> bool:
        """Whether what it allowed has ended."""
        who = self.who_now(now_s)
        return who is not None and who["expires_s"] is not None and who["expires_s"] <= 0


class Hook:
    """Asks, and remembers answers by a keyed digest: no password is kept."""

    def __init__(self, section: HookSection, listeners: list[str]) -> None:
        """Ask the service of this section; `listeners` are their names."""
        self.section = section
        self._listeners = listeners
        self._secret = secrets.token_bytes(32)
        # Threads that ask share it; held for a moment.
        self._lock = threading.Lock()
        self._allowed: OrderedDict[bytes, HookAnswer] = OrderedDict()
        self._denied: OrderedDict[bytes, HookAnswer] = OrderedDict()

    def answer(self, login: dict[str, Any]) -> tuple[bool | None, dict[str, Any] | None]:
        """Whether the client is let in, and as whom; None if nobody can say. May take a while."""
        key, now_s = self._key(login), time.monotonic()
        known = self._find(key, now_s)
        if known and now_s < known.at_s + self.section.cache_s:
            return known.is_allowed, known.who_now(now_s)
        try:
            found = self._ask(login)
        except FetchError:
            if self.section.when_away == "known" and known and known.is_allowed:
                return True, known.who_now(now_s)
            return None, None
        self._remember(key, found)
        return found.is_allowed, found.who

    def _ask(self, login: dict[str, Any]) -> HookAnswer:
        question = {
            "client_id": login["client_id"],
            "user_name": login["user_name"],
            "password": login["password"].decode("utf-8", "replace"),
            "address": login["address"],
            "listener": self._name(login["listener"]),
        }
        section = self.section
        try:
            body = fetch(
                section.url,
                timeout_s=section.timeout_ms / 1_000,
                bytes_max=ANSWER_BYTES_MAX,
                ca=section.ca,
                body=json.dumps(question).encode(),
            )
        except FetchError as error:
            if error.status in (401, 403):
                return HookAnswer(False, None, time.monotonic())
            raise
        return read_answer(body, login["user_name"], time.monotonic())

    def _name(self, listener: int) -> str:
        return self._listeners[listener] if listener < len(self._listeners) else ""

    def _key(self, login: dict[str, Any]) -> bytes:
        host = login["address"].rpartition(":")[0]
        parts = [login["client_id"], login["user_name"], host, login["listener"]]
        mac = hmac.new(self._secret, json.dumps(parts).encode(), hashlib.sha256)
        mac.update(b"\0" + login["password"])
        return mac.digest()

    def _find(self, key: bytes, now_s: float) -> HookAnswer | None:
        with self._lock:
            found = self._allowed.get(key) or self._denied.get(key)
            if found and (found.is_over(now_s) or now_s > found.at_s + KNOWN_S):
                self._forget(key)
                return None
            if found and found.is_allowed:
                self._allowed.move_to_end(key)
            return found

    def _remember(self, key: bytes, found: HookAnswer) -> None:
        with self._lock:
            self._forget(key)
            remembered = self._allowed if found.is_allowed else self._denied
            remembered[key] = found
            if len(remembered) > REMEMBERED_MAX:
                remembered.popitem(last=False)

    def _forget(self, key: bytes) -> None:
        self._allowed.pop(key, None)
        self._denied.pop(key, None)


def read_answer(body: bytes, user_name: str | None, now_s: float) -> HookAnswer:
    """Read the service's JSON; FetchError if it is not as described in docs/tokens.md."""
    try:
        answer = json.loads(body)
        allow, user = answer["allow"], answer.get("user", user_name)
        if allow is False:
            return HookAnswer(False, None, now_s)
        who = {
            "user": _name_of(user),
            "roles": [_name_of(role) for role in _few(answer.get("roles", []), list)],
            "claims": _claims(_few(answer.get("claims", {}), dict)),
            "expires_s": _seconds(answer.get("expires_s")),
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise FetchError("the answer is not as it should be") from None
    if allow is not True:
        raise FetchError("the answer's 'allow' is neither true nor false")
    return HookAnswer(True, who, now_s)


def _few(value: Any, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    if not isinstance(value, kind) or len(value) > NAMES_MAX:
        raise ValueError
    return value


def _name_of(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= NAME_CHARACTERS_MAX:
        raise ValueError
    if not value.isprintable():
        raise ValueError
    return value


def _claims(values: dict[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, str | int | float | bool):
                raise TypeError
            text = str(one).lower() if isinstance(one, bool) else str(one)
            pairs.append((_name_of(name), text))
    if len(pairs) > NAMES_MAX:
        raise ValueError
    return pairs


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e10:
        raise ValueError
    return float(value)
