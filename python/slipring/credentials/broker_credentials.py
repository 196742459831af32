"""The credentials for one broker: checked once, then asked for the secret of each connection."""

import asyncio
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

from slipring.credentials.token_callback import TokenCallback, TokenSource
from slipring.errors import ConnectError
from slipring.native import read_secret_file

Authentication = Literal["password", "scram", "token"]

TOKEN_S = 60.0
"""How long a callback may take to give a token."""
SECRET_BYTES_MAX = 65_535
"""What a packet of MQTT carries."""


@dataclass(frozen=True, slots=True)
class BrokerCredentials:
    """A user name and a password, or a token: itself, in a file, or given by a callback.

    `authentication` says how they are sent. Without it, a password goes into CONNECT and a token by
    the method `OAUTH2-JWT`. Never SCRAM without being asked: a client cannot know beforehand
    whether a broker offers it, and one that tried a password after SCRAM was refused would hand the
    password to whoever refuses SCRAM.
    """

    user: str | None = None
    password: bytes | None = field(default=None, repr=False)
    token: bytes | TokenSource | None = field(default=None, repr=False)
    token_file: str | PathLike[str] | None = None
    authentication: Authentication | None = None
    _callback: TokenCallback = field(
        default_factory=TokenCallback, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        given = [self.password is not None, self.token is not None, self.token_file is not None]
        if sum(given) > 1:
            raise ValueError("give one of password, token and token_file")
        if self.method == "scram" and (not self.user or self.password is None):
            raise ValueError("authentication='scram' needs user and password")
        if self.method == "token" and not any(given[1:]):
            raise ValueError("authentication='token' needs token or token_file")
        if self.method not in ("password", "scram", "token"):
            raise ValueError(f"authentication is password, scram or token, not {self.method!r}")

    @property
    def method(self) -> Authentication:
        """How the secret is sent."""
        if self.authentication is not None:
            return self.authentication
        return "token" if self.token is not None or self.token_file is not None else "password"

    @property
    def is_renewed(self) -> bool:
        """Whether each connection begins with a token that is fetched anew."""
        return callable(self.token) or self.token_file is not None

    async def secret(self, url: str) -> bytes | None:
        """The password or the newest token. Raises ConnectError if a token cannot be had."""
        if self.token_file is not None:
            return _some(await asyncio.to_thread(read_secret_file, self.token_file), url)
        if self.token is None or isinstance(self.token, bytes):
            return self.password if self.token is None else _some(self.token, url)
        try:
            async with asyncio.timeout(TOKEN_S):
                token = await self._callback.token(self.token)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            # The exception is the callback's own: its text may hold what must not be shown.
            kind = type(error).__name__
            raise ConnectError(f"the callback gave no token for {url}: {kind}") from error
        return _some(token, url)

    def fixed_secret(self) -> bytes | None:
        """The secret of a reader that cannot call back; a token file it reads itself."""
        if callable(self.token):
            raise ConnectError("a reader of journals takes a token or a token file, no callback")
        return self.password if self.token is None else self.token

    def connecting(self) -> dict[str, Any]:
        """The options of `slipring.connect` that say the same."""
        names = ("user", "password", "token", "token_file", "authentication")
        return {name: getattr(self, name) for name in names}

    def options(self) -> dict[str, str | None]:
        """The options of Spark's source that say the same."""
        secret = self.fixed_secret()
        return {
            "user": self.user,
            "password": None if self.password is None else self.password.decode(),
            "token": None if secret is None or self.token is None else secret.decode(),
            "tokenFile": None if self.token_file is None else str(self.token_file),
            "authentication": self.authentication,
        }

    def native(self, secret: bytes | None) -> dict[str, Any]:
        """What the native client takes."""
        return {
            "user": self.user,
            "password": secret,
            "method": self.method,
            "renewed": self.is_renewed,
        }


NO_CREDENTIALS = BrokerCredentials()
"""Those of a client that proves nothing, or proves its name with a certificate."""


def _is_cancelled() -> bool:
    """Whether somebody cancels who waits here, rather than the callback has raised that itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _some(token: bytes, url: str) -> bytes:
    if not token:
        raise ConnectError(f"the token for {url} is empty")
    if len(token) > SECRET_BYTES_MAX:
        size = f"{len(token):,} bytes, and at most {SECRET_BYTES_MAX:,} can be sent"
        raise ConnectError(f"the token for {url} has {size}")
    return token
