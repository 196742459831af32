"""The open logins of the console: who is logged in, until when. In memory only; bounded.

An id is 256 random bits and is kept as its digest. It is never written to a log.
"""

import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic

LOGINS_MAX = 1_000
"""Open logins; beyond it the user with the most loses the one that was used least lately."""
LOGINS_OF_USER_MAX = 16
ID_BYTES = 32


@dataclass(frozen=True, slots=True)
class Person:
    """Who was proved: the same that rules of access are about."""

    user: str
    roles: tuple[str, ...] = ()
    """Roles that the proof names; those of the configuration are added by the engine."""
    claims: tuple[tuple[str, str], ...] = ()


@dataclass(eq=False, slots=True)
class ConsoleLogin:
    """A person who has logged in with a browser."""

    person: Person
    mark: bytes | None
    """The engine's mark of the user, which changes with the password; None: proved elsewhere."""
    ends_s: float
    used_s: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(ID_BYTES))
    """What the page sends with each request that changes something."""


class ConsoleLogins:
    """Opens, finds and ends logins."""

    def __init__(
        self, idle_s: float, login_s: float, now_s: Callable[[], float] = monotonic
    ) -> None:
        """`idle_s` without a request ends a login, `login_s` ends it in any case."""
        self._idle_s, self._login_s, self._now_s = idle_s, login_s, now_s
        self._open: dict[bytes, ConsoleLogin] = {}

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def open(self, person: Person, mark: bytes | None, lasts_s: float | None = None) -> str:
        """Open a login; return its id, which only the cookie has."""
        self._forget_ended()
        self._make_room(person.user)
        now_s, made = self._now_s(), secrets.token_urlsafe(ID_BYTES)
        lasts_s = self._login_s if lasts_s is None else min(lasts_s, self._login_s)
        self._open[_digest(made)] = ConsoleLogin(person, mark, now_s + lasts_s, now_s)
        return made

    def find(self, login_id: str) -> ConsoleLogin | None:
        """The login with this id, used now; None if there is none or it has ended."""
        login = self._open.get(_digest(login_id))
        if login is None or not self.is_open(login):
            self.end(login_id)
            return None
        login.used_s = self._now_s()
        return login

    def is_open(self, login: ConsoleLogin) -> bool:
        """Whether neither of its times is over."""
        now_s = self._now_s()
        return now_s < login.ends_s and now_s < login.used_s + self._idle_s

    def end(self, login_id: str) -> None:
        """End a login, if it is open."""
        if (login := self._open.pop(_digest(login_id), None)) is not None:
            login.ends_s = self._now_s()

    def use(self, login: ConsoleLogin) -> None:
        """An open page counts as use."""
        login.used_s = self._now_s()

    def left_s(self, login: ConsoleLogin) -> float:
        """How long a login may last in any case."""
        return login.ends_s - self._now_s()

    def end_all_of(self, user: str) -> int:
        """End every login of a user; how many there were."""
        own = [one for one in self._open.values() if one.person.user == user]
        for one in own:
            self.end_of(one)
        return len(own)

    def end_of(self, login: ConsoleLogin) -> None:
        """End this login."""
        login.ends_s = self._now_s()
        self._open = {key: one for key, one in self._open.items() if one is not login}

    def _forget_ended(self) -> None:
        self._open = {key: one for key, one in self._open.items() if self.is_open(one)}

    def _make_room(self, user: str) -> None:
        counts = Counter(one.person.user for one in self._open.values())
        if counts[user] >= LOGINS_OF_USER_MAX:
            self._end_oldest_of(user)
        elif len(self._open) >= LOGINS_MAX:
            self._end_oldest_of(counts.most_common(1)[0][0])

    def _end_oldest_of(self, user: str) -> None:
        own = (one for one in self._open.values() if one.person.user == user)
        self.end_of(min(own, key=lambda one: one.used_s))


def _digest(login_id: str) -> bytes:
    return sha256(login_id.encode("utf-8", "replace")).digest()
