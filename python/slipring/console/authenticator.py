"""Finds out who makes a request: by the cookie of a login, a token, or a name and a password."""

import asyncio
import base64
import binascii
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.types import Scope

from slipring.console.attempts import LoginAttempts
from slipring.console.cookies import LoginCookie
from slipring.console.logins import ConsoleLogin, ConsoleLogins, Person
from slipring.console.visitor import AREAS, Visitor
from slipring.control import Broker
from slipring.control.address import Address
from slipring.errors import TokenError

CHECKS_MAX = 8
"""Passwords of the console that are checked, or wait for their turn in the engine, at once."""
WAITING_MAX = 256
"""Those that wait before that; further ones are told to come again."""
PASSWORD_BYTES_MAX = 4_096
NAME_MAX = 256
BUSY_S = 5
WRONG = "the user name or the password is wrong\n"
SLOWED = "too many wrong passwords from this address or for this name; try again in {} s\n"
TOKENS_SLOWED = "too many wrong tokens from this address; try again in {} s\n"
BUSY = "too many passwords wait to be checked; try again later\n"
OPEN_WAY = (
    "a password or a token is not taken over a network without TLS: whoever reads the network "
    "would have it; set certificate and key under [console], or use ssh -L\n"
)
NOT_UNDERSTOOD = "the Authorization header cannot be understood; send Basic or Bearer, once\n"
BAD_PROOF = "the token is refused: {}\n"
TOKEN_ENDED = (4401, "Your token has ended, or was revoked.")
LOGIN_ENDED = (4401, "Your login has ended. Log in again.")
USER_CHANGED = (4401, "Your user was removed, or its password was changed. Log in again.")
LOGIN_NEEDED = (4401, "This broker has users now. Log in.")
RIGHTS_GONE = (4403, "Your right to watch was taken back.")
RIGHTS_CHANGED = (4403, "Your rights were changed.")

OUTCOMES = ("accepted", "wrong", "slowed", "busy", "refused")
"""How attempts to prove a name end; `refused`: a request that its sender has no right to."""

PageEnd = tuple[int, str]
"""The code and the reason that close the WebSocket of a page."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered."""

    text: str
    status: int
    retry_s: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer."""
        return {} if self.retry_s is None else {"retry-after": str(self.retry_s)}


@dataclass(frozen=True, slots=True)
class Proof:
    """A visitor, and the login if a cookie proved who it is."""

    visitor: Visitor
    login: ConsoleLogin | None = None
    token: str | None = None
    """The token that proved it."""
    mark: bytes | None = None
    """The engine's mark of the user whose password was in the request."""
    watched: str = "all"
    """How much it could watch when it came."""
    areas: tuple[str, ...] = AREAS
    """What it could administer then."""
    plan: int = 0


class Authenticator:
    """Knows the open logins, and counts attempts."""

    def __init__(self, broker: Broker, listen: Address) -> None:
        """Start without logins."""
        console = broker.config.console
        self.broker = broker
        self.behind_proxy: bool = console.behind_proxy
        self.is_secure: bool = console.has_tls or console.behind_proxy
        self.logins: ConsoleLogins = ConsoleLogins(console.idle_s, console.login_s)
        self.cookie: LoginCookie = LoginCookie(broker.id, is_secure=self.is_secure)
        self.outcomes: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
        self._attempts = LoginAttempts()
        # A script whose token has ended keeps nobody at its address from logging in.
        self._token_attempts = LoginAttempts()
        self._is_closed_way = self.is_secure or listen.is_loopback
        self._checks = asyncio.Semaphore(CHECKS_MAX)
        # Threads of their own: who waits for a password keeps no other request waiting.
        self._threads = ThreadPoolExecutor(CHECKS_MAX, "slipring-login")
        self._waiting = 0

    @property
    def is_needed(self) -> bool:
        """Whether the broker can tell users apart, so that people log in."""
        return self.broker.engine.is_access_enforced

    def address_of(self, scope: Scope) -> str:
        """The address of who asks; behind a proxy it is the last one that the proxy has added."""
        peer = scope.get("client")
        host = str(peer[0]) if peer else ""
        if not self.behind_proxy:
            return host
        named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        last = b",".join(named).decode("latin-1").rpartition(",")[2].strip()
        try:
            return str(ip_address(last))
        except ValueError:
            return host

    async def prove(self, scope: Scope) -> Proof | Refusal:
        """Find out who makes a request; nobody in particular is a visitor, too."""
        if not self.is_needed:
            return Proof(Visitor(self.broker.engine, None))
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        claimed = [value.decode("latin-1") for name, value in headers if name == b"authorization"]
        if claimed:
            return await self._by_header(claimed, self.address_of(scope))
        if (login := self._login(headers)) is not None:
            return self._proof(login.person, login)
        return self._proof(None)

    async def check(self, name: str, password: str, address: str) -> Person | Refusal:
        """Check a name and a password, when their turn has come."""
        name = name.encode("utf-8", "replace").decode()  # half of a surrogate pair is not text
        if refusal := self._open_way(address) or self._slowed(address, name):
            return refusal
        found = await self._checked(name, password, address)
        if isinstance(found, Refusal):
            return found
        if found == "busy":
            self.outcomes["busy"] += 1
            return Refusal(BUSY, 503, BUSY_S)
        if found != "right":
            self.outcomes["wrong"] += 1
            self._attempts.failed(address, name)
            detail = "wrong name or password"
            self.broker.audit("login", user=name, address=address, outcome="refused", detail=detail)
            return Refusal(WRONG, 401)
        self.outcomes["accepted"] += 1
        self._attempts.succeeded(address, name)
        return Person(name)

    def mark_of(self, name: str) -> bytes:
        """The mark of a user, asked for before its password; empty if there is no such user."""
        return self.broker.engine.user_mark(name) or b""

    def open_login(
        self,
        person: Person,
        scope: Scope,
        how: str,
        *,
        mark: bytes | None = None,
        lasts_s: float | None = None,
    ) -> str:
        """Log a person in; return the Set-Cookie of the new login. An earlier one here ends.

        If the user has no such `mark` any more, the login ends at once.
        """
        if (earlier := self.cookie.read(scope["headers"])) is not None:
            self.logins.end(earlier)
        address = self.address_of(scope)
        self.broker.audit("login", user=person.user, address=address, detail=f"by {how}")
        return self.cookie.set(self.logins.open(person, mark, lasts_s))

    def page_end(self, proof: Proof) -> PageEnd | None:
        """Why an open page has to be closed; None while it may go on. This is use of the login."""
        if proof.visitor.person is None and not proof.visitor.is_restricted:
            return None
        if end := self._proof_end(proof):
            return end
        now = proof.visitor.watched
        if now == "nothing":
            return RIGHTS_GONE
        is_same = now == proof.watched and (now == "all" or proof.plan == proof.visitor.plan)
        return None if is_same and proof.visitor.areas == proof.areas else RIGHTS_CHANGED

    def _proof_end(self, proof: Proof) -> PageEnd | None:
        """Why a visitor has to prove again who it is."""
        if (login := proof.login) is not None:
            if self._has_changed(login):  # first: each page of this login is told the reason
                return USER_CHANGED
            if not self.logins.is_open(login):
                return LOGIN_ENDED
            self.logins.use(login)
            return None
        if proof.mark is not None and self.mark_of(proof.visitor.name or "") != proof.mark:
            return USER_CHANGED
        if proof.token is not None:
            return TOKEN_ENDED if isinstance(self._by_token(proof.token), Refusal) else None
        is_open = proof.visitor.person is not None or self.broker.config.console.allow_anonymous
        return None if is_open else LOGIN_NEEDED

    def _login(self, headers: Sequence[tuple[bytes, bytes]]) -> ConsoleLogin | None:
        login_id = self.cookie.read(headers)
        login = self.logins.find(login_id) if login_id else None
        return None if login is None or self._has_changed(login) else login

    def _has_changed(self, login: ConsoleLogin) -> bool:
        """Whether the user is gone, or has another password; then the login ends."""
        if login.mark is None or self.broker.engine.user_mark(login.person.user) == login.mark:
            return False
        self.logins.end_of(login)
        return True

    def _proof(
        self,
        person: Person | None,
        login: ConsoleLogin | None = None,
        token: str | None = None,
        mark: bytes | None = None,
    ) -> Proof:
        is_let_in = person is not None or self.broker.config.console.allow_anonymous
        visitor = Visitor(self.broker.engine, person, is_let_in=is_let_in)
        return Proof(visitor, login, token, mark, visitor.watched, visitor.areas, visitor.plan)

    async def _by_header(self, claimed: list[str], address: str) -> Proof | Refusal:
        scheme, _, value = claimed[0].partition(" ")
        if len(claimed) == 1 and scheme.lower() == "bearer":
            return self._by_bearer(value.strip(), address)
        if len(claimed) > 1 or scheme.lower() != "basic":
            return Refusal(NOT_UNDERSTOOD, 401)
        if (pair := _basic(value)) is None:
            return Refusal(NOT_UNDERSTOOD, 401)
        mark = self.mark_of(pair[0])  # first: a password that changes meanwhile ends the proof
        found = await self.check(*pair, address)
        return found if isinstance(found, Refusal) else self._proof(found, mark=mark)

    def _by_bearer(self, token: str, address: str) -> Proof | Refusal:
        """Nobody guesses a token, so a right one never has to wait; wrong ones are slowed."""
        if refusal := self._open_way(address):
            return refusal
        found = self._by_token(token)
        if isinstance(found, Person):
            return self._proof(found, token=token)
        if wait_s := self._token_attempts.wait_s(address):
            self.outcomes["slowed"] += 1
            return Refusal(TOKENS_SLOWED.format(wait_s), 429, wait_s)
        self.outcomes["wrong"] += 1
        self._token_attempts.failed(address)
        return found

    def _by_token(self, token: str) -> Person | Refusal:
        try:
            found = self.broker.verify_token(token)
        except (TokenError, UnicodeEncodeError) as error:
            return Refusal(BAD_PROOF.format(error), 401)
        claims = tuple((str(name), str(value)) for name, value in found["claims"])
        return Person(found["user"], tuple(found["roles"]), claims)

    def _open_way(self, address: str) -> Refusal | None:
        """Whether no password or token is taken, because others could read it on its way."""
        is_safe = self._is_closed_way or Address(address, 0).is_loopback
        return None if is_safe else Refusal(OPEN_WAY, 403)

    def _slowed(self, address: str, name: str) -> Refusal | None:
        """Why no password of this name is checked now."""
        wait_s = self._attempts.wait_s(address, name)
        if not wait_s:
            return None
        self.outcomes["slowed"] += 1
        return Refusal(SLOWED.format(wait_s), 429, wait_s)

    async def _checked(self, name: str, password: str, address: str) -> str | Refusal:
        """Ask the engine on a thread: "right", "wrong" or "busy"."""
        secret = password.encode("utf-8", "replace")
        if len(secret) > PASSWORD_BYTES_MAX or not 0 < len(name) <= NAME_MAX or not secret:
            return "wrong"
        if self._waiting >= WAITING_MAX:
            return "busy"
        self._waiting += 1
        try:
            async with self._checks:
                if refusal := self._slowed(address, name):  # others were wrong meanwhile
                    return refusal
                check = self.broker.engine.check_password
                loop, peer = asyncio.get_running_loop(), str(Address(address, 1))
                return await loop.run_in_executor(self._threads, check, name, secret, peer)
        finally:
            self._waiting -= 1


def _basic(value: str) -> tuple[str, str] | None:
    """The name and the password of HTTP's basic authentication (RFC 7617)."""
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    name, colon, password = text.partition(":")
    return (name, password) if colon else None
