"""Opening a connection, with `await` or `async with`."""

import math
from collections.abc import Generator
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from slipring.client.bus import Bus
from slipring.client.connection import ClientConnection
from slipring.client.renewal import Renewal
from slipring.client.tls import Tls
from slipring.client.will import Will
from slipring.credentials import (
    Authentication,
    BrokerCredentials,
    TokenSource,
    warn_of_plain_text,
)
from slipring.native import Client

URL = "mqtt://127.0.0.1:1883"
"""Where a broker on this computer listens by default."""


def connect(  # noqa: PLR0913 (every option has its name at the call)
    url: str = URL,
    *,
    client_id: str | None = None,
    user: str | None = None,
    password: str | bytes | None = None,
    token: str | bytes | TokenSource | None = None,
    token_file: str | PathLike[str] | None = None,
    authentication: Authentication | None = None,
    tls: Tls | None = None,
    will: Will | None = None,
    replaying: bool = False,
    session_expiry_s: int = 0,
    clean_start: bool = False,
    reconnect_s: float = math.inf,
    keep_alive_s: int = 30,
    timeout_s: float = 10.0,
    outbox_bytes_max: int = 16 << 20,
    inbox_bytes_max: int = 64 << 20,
    report_arrivals_s: float | None = None,
) -> "Connecting":
    """Opens a connection to a broker, for `async with` or `await`.

    The address is `mqtt://host:port`, `mqtts://host:port` (TLS), `ws://host:port/path` and
    `wss://host:port/path` (WebSocket; the path is `/mqtt` if there is none) or `unix:/path`.
    Without a client id the broker assigns one.

    A client proves its name with `user` and `password`, sent as they are, or never sent with
    `authentication="scram"`; with a certificate of `tls`; or with a `token`. A token may be a
    callable, sync or async, or in a `token_file`: then it is fetched again before it ends and
    before each further connection. `authentication="password"` sends a token as the password, for
    brokers that want it there. `will` is published if this client goes without closing. With
    `replaying` the client says that it plays a recording again: to publish it then needs the right
    `replay`, instead of `publish`.

    `session_expiry_s` is how long the broker keeps the session without a connection; above 0 an
    earlier session with the same client id is continued, except with `clean_start`. A lost
    connection is retried for `reconnect_s`; 0 is not at all. After `keep_alive_s` of silence the
    client pings the broker, and after as long again the connection is lost; 0 is never. `timeout_s`
    is for connecting, and again for closing. `outbox_bytes_max` bounds what waits to be sent,
    `inbox_bytes_max` what waits to be read. With `report_arrivals_s` the client tells the broker so
    often how regularly data arrive at its selections with a rate. Raises ConnectError.
    """
    proof = BrokerCredentials(user, _bytes(password), _bytes(token), token_file, authentication)
    return Connecting(
        url,
        report_arrivals_s,
        proof,
        client_id=client_id or "",
        will=None if will is None else will.row(),
        replaying=replaying,
        tls=None if tls is None else asdict(tls),
        session_expiry_s=session_expiry_s,
        clean_start=clean_start or session_expiry_s == 0,
        reconnect_s=reconnect_s,
        keep_alive_s=keep_alive_s,
        timeout_s=timeout_s,
        outbox_bytes_max=outbox_bytes_max,
        inbox_bytes_max=inbox_bytes_max,
    )


Secret = TypeVar("Secret")


def _bytes(secret: str | Secret) -> bytes | Secret:
    return secret.encode() if isinstance(secret, str) else secret


class Connecting:
    """A connection still to be opened; await it or enter it."""

    def __init__(
        self,
        url: str,
        report_arrivals_s: float | None,
        credentials: BrokerCredentials,
        **options: Any,
    ) -> None:
        if report_arrivals_s is not None and not report_arrivals_s > 0:
            raise ValueError(f"report_arrivals_s is seconds, more than 0, not {report_arrivals_s}")
        self._url = url
        self._report_arrivals_s = report_arrivals_s
        self._credentials = credentials
        self._options = options
        self._bus: Bus | None = None

    def __await__(self) -> Generator[Any, None, Bus]:
        return self._open().__await__()

    async def __aenter__(self) -> Bus:
        self._bus = await self._open()
        return self._bus

    async def __aexit__(self, *raised: Any) -> None:
        if self._bus is not None:
            await self._bus.__aexit__(*raised)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            text = f"a connection still to be opened has no {name!r}: write `async with "
            raise AttributeError(f"{text}slipring.connect(...) as bus`, or `await` it")

    async def _open(self) -> Bus:
        is_durable = self._options["session_expiry_s"] > 0
        warn_of_plain_text(self._url, self._credentials)
        secret = await self._credentials.secret(self._url)
        credentials = self._credentials.native(secret)
        native = Client(self._url, {**self._options, "credentials": credentials})
        connection = ClientConnection(
            native,
            is_durable=is_durable,
            report_arrivals_s=self._report_arrivals_s,
        )
        changes = connection.changes()
        terms = await connection.connected()
        if secret is not None and self._credentials.is_renewed:
            Renewal(native, self._credentials, secret, self._options["reconnect_s"]).follow(changes)
        return Bus(connection, terms)
