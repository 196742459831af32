"""The listeners of the configuration: where clients connect, and how they prove who they are."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from slipring.control.address import Address
from slipring.control.limits import KIB, MIB, LimitsSection
from slipring.control.section import Section, between
from slipring.native import LISTEN_PREFIXES

UNIX = "unix:"
PREFIXES = tuple(LISTEN_PREFIXES)
"""What an address may begin with; the engine knows what each means."""
MQTT = "mqtt"
"""The name of the listener that `[mqtt]` describes."""
OWN_LIMITS = ("connections", "packet_bytes", "connect_ms", "keep_alive_s")
"""Limits that a listener can have of its own."""
RESERVED = (MQTT, "console")
"""Names that the ready line uses itself."""


def _host_and_port(listen: str) -> Address:
    prefix = next(filter(listen.startswith, PREFIXES), "")
    return Address.parse(listen.removeprefix(prefix))


def _is_bind_address(text: str) -> str:
    if not text.startswith(UNIX):
        _host_and_port(text)
    elif not text.startswith(f"{UNIX}/") or any(letter.isspace() for letter in text):
        raise ValueError(f"'{text}' is not unix:/PATH, without spaces")
    return text


def _is_name(text: str) -> str:
    if text in RESERVED:
        raise ValueError(f"'{text}' is taken; choose another name")
    return text


def _is_origin(text: str) -> str:
    scheme, _, host = text.partition("://")
    if text not in ("*", "null") and (not scheme or not host.rstrip("/") or "/" in host[:-1]):
        raise ValueError(f"'{text}' is not an origin, for example https://console.example:8443")
    return text


class ListenerSection(Section):
    """A further listener. Repeat this table for each one."""

    name: Annotated[str, AfterValidator(_is_name)] = Field(
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        description="Its name, in messages and in the ready line: small letters, digits, - and _.",
        examples=["secure"],
    )
    listen: Annotated[str, AfterValidator(_is_bind_address)] = Field(
        description="HOST:PORT, [IPV6]:PORT or unix:/PATH; port 0 picks a free one.",
        examples=["0.0.0.0:8883"],
    )
    websocket: bool = Field(False, description="MQTT over WebSocket, at any path.")
    origins: tuple[str, ...] = Field(
        (),
        description="Web pages that may open a WebSocket, as https://HOST:PORT, or * for any; "
        "an empty list lets in pages of this machine and of the host that the client asked for.",
    )
    certificate: Path | None = Field(
        None,
        description="PEM file with the certificate of the broker; with it the listener speaks TLS.",
        examples=["broker.pem"],
    )
    key: Path | None = Field(
        None, description="PEM file with the key of the certificate.", examples=["broker.key"]
    )
    client_ca: Path | None = Field(
        None,
        description="PEM file with the authorities of client certificates; without it clients are "
        "not asked for one.",
        examples=["ca.pem"],
    )
    client_certificates: Literal["required", "optional"] = Field(
        "required", description="Whether clients need a certificate: required or optional."
    )
    client_name: Literal["auto", "cn", "san-dns", "san-uri", "san-email"] = Field(
        "auto",
        description="Which name of a client certificate counts: cn (the common name), san-dns, "
        "san-uri or san-email (the only alternative name of that kind), or auto (the common name, "
        "without one the first alternative name).",
    )
    client_crl: tuple[Path, ...] = Field(
        (),
        description="PEM files with lists of revoked client certificates, one for each authority; "
        "with them, a certificate whose authority has no list is refused.",
        examples=[("ca.crl",)],
    )
    connections: Annotated[int, between(1, 1_000_000)] | None = Field(
        None,
        description="Clients at once here, in place of `limits.connections`, which still bounds "
        "all of them together.",
        examples=[1000],
    )
    packet_bytes: Annotated[int, between(KIB, 256 * MIB)] | None = Field(
        None,
        description="Bytes of one packet here, in place of `limits.packet_bytes`.",
        examples=[65536],
    )
    connect_ms: Annotated[int, between(10, 600_000)] | None = Field(
        None,
        description="Milliseconds to a whole CONNECT here, in place of `limits.connect_ms`.",
        examples=[5000],
    )
    keep_alive_s: Annotated[int, between(1, 65_535)] | None = Field(
        None,
        description="Longest keep-alive here, in place of `limits.keep_alive_s`.",
        examples=[600],
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "ListenerSection":
        if (self.certificate is None) != (self.key is None):
            raise ValueError(f"listener '{self.name}': certificate and key need each other")
        if self.client_ca and not self.certificate:
            raise ValueError(f"listener '{self.name}': client_ca needs certificate and key")
        if "client_certificates" in self.model_fields_set and not self.client_ca:
            raise ValueError(f"listener '{self.name}': client_certificates needs client_ca")
        for key in ("client_name", "client_crl"):
            if key in self.model_fields_set and not self.client_ca:
                raise ValueError(f"listener '{self.name}': {key} needs client_ca")
        if self.origins and not self.websocket:
            raise ValueError(f"listener '{self.name}': origins needs websocket = true")
        for origin in self.origins:
            _is_origin(origin)
        return self

    def limits(self, everywhere: LimitsSection) -> dict[str, Any]:
        """The limits of this listener: its own in place of those for all."""
        own = {key: getattr(self, key) for key in OWN_LIMITS}
        here = {key: value for key, value in own.items() if value is not None}
        return everywhere.model_dump() | here

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of its TLS, which are read again when they change."""
        named = (self.certificate, self.key, self.client_ca, *self.client_crl)
        return tuple(file for file in named if file is not None)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.listen.startswith(UNIX) or _host_and_port(self.listen).is_loopback

    @property
    def proves(self) -> bool:
        """Whether every client has to prove who it is with a certificate."""
        return self.client_ca is not None and self.client_certificates == "required"
