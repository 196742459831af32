"""The table `log` of the configuration: levels by room, the format, log servers."""

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, SecretStr, field_validator

from slipring.control.event_kinds import ROOMS, LogLevel, Room
from slipring.control.events import LINES_MAX
from slipring.control.secret import ConfigSecret
from slipring.control.section import Section, between
from slipring.logs.address import SCHEMES, SECURE, LogServerKind, ServerAddress

RoomLevel = Literal["default", "debug", "info", "warning", "error"]
SERVERS_MAX = 8


class RoomsSection(Section):
    """Levels of single rooms of the log; `default` is what `level` says."""

    connections: RoomLevel = Field(
        "default", description="Clients that connect and go; sessions that end."
    )
    access: RoomLevel = Field(
        "default", description="Clients that log in or fail to, and acts without a right."
    )
    subscriptions: RoomLevel = Field("default", description="Filters, granted or refused.")
    messages: RoomLevel = Field(
        "default", description="Messages that are lost; at `debug` what happens to each message."
    )
    requests: RoomLevel = Field(
        "default", description="Requests that are dropped; at `debug` the life of each request."
    )
    journal: RoomLevel = Field("default", description="The journal and its archive.")
    broker: RoomLevel = Field("default", description="The broker itself, and notices to it.")


class LogServerSection(Section):
    """A log server, which gets the log, too. What it takes too slowly is dropped and counted."""

    kind: LogServerKind = Field(
        description="How to speak to it: `gelf` (Graylog), `syslog` (RFC 5424) or `otlp` "
        "(OpenTelemetry over HTTP; needs `pip install 'slipring[otlp]'`).",
        examples=["gelf"],
    )
    address: str = Field(
        max_length=1024,
        description="`udp://HOST:PORT`, `tcp://HOST:PORT` or `tls://HOST:PORT` for gelf; these or "
        "`unix:///PATH` for syslog; `http://HOST:PORT` or `https://HOST:PORT` for otlp.",
        examples=["tls://graylog.example:12201"],
    )
    level: LogLevel = Field("debug", description="Lines of this level and above are sent.")
    ca: Path | None = Field(
        None,
        description="PEM file with the authorities of the server's certificate, for tls and "
        "https; otherwise those of the system are trusted.",
        examples=["logs-ca.pem"],
    )
    headers: dict[str, ConfigSecret] = Field(
        {},
        max_length=32,
        description="Headers of each request, for otlp: such as a token, which may be "
        '{ file = "PATH" } or { env = "NAME" } (secrets.md).',
    )

    @field_validator("address")
    @classmethod
    def _is_address(cls, text: str) -> str:
        ServerAddress.parse(text)
        return text

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            text = name + value.get_secret_value()
            if not (name and text.isascii() and text.isprintable()):
                raise ValueError(f"the header {name!r} is not printable ASCII")
        return headers

    def __str__(self) -> str:
        return f"{self.kind} {self.address}"


def _are_servers(servers: tuple[LogServerSection, ...]) -> tuple[LogServerSection, ...]:
    for server in servers:
        scheme = ServerAddress.parse(server.address).scheme
        if scheme not in SCHEMES[server.kind]:
            raise ValueError(
                f"{server.address} is no address for {server.kind}; "
                f"it begins with {' or '.join(f'{one}://' for one in SCHEMES[server.kind])}"
            )
        if server.ca and scheme not in SECURE:
            raise ValueError(f"{server.address} has no certificate that `ca` could be for")
        if server.headers and server.kind != "otlp":
            raise ValueError(f"{server.kind} has no headers")
    names = [str(server) for server in servers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the log server '{name}' is there twice")
    return servers


class LogSection(Section):
    """The log, on standard error and at log servers."""

    level: LogLevel = Field("info", description="The least important level that is still written.")
    format: Literal["text", "json"] = Field(
        "text", description="Lines for people, or one JSON object in each line for programs."
    )
    burst: Annotated[int, between(1, 1_000)] = Field(
        LINES_MAX,
        description="How many events of one kind get a line each within a quarter of a second; one "
        "more line counts the others.",
    )
    rooms: RoomsSection = RoomsSection()
    server: Annotated[tuple[LogServerSection, ...], AfterValidator(_are_servers)] = Field(
        (), max_length=SERVERS_MAX, description="Log servers."
    )

    def level_of(self, room: Room) -> LogLevel:
        """The least important level that is written of a room."""
        own: RoomLevel = getattr(self.rooms, room)
        return self.level if own == "default" else own


assert set(ROOMS) == set(RoomsSection.model_fields) and len(get_args(RoomLevel)) == 5  # noqa: PT018
