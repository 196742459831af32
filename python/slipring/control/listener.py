"""The listeners of the configuration: where clients connect, and what they must prove there."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from slipring.control.address import Address
from slipring.control.section import Section

UNIX = "unix:"
MQTT = "mqtt"
"""The name of the listener that `[mqtt]` describes."""
RESERVED = (MQTT, "console")
"""Names that the ready line has its own use for."""


def _is_place(text: str) -> str:
    if not text.startswith(UNIX):
        Address.parse(text)
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
    """A further place where clients connect. Repeat it for another one."""

    name: Annotated[str, AfterValidator(_is_name)] = Field(
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        description="Its name, in messages and in the ready line: small letters, digits, - and _.",
        examples=["secure"],
    )
    listen: Annotated[str, AfterValidator(_is_place)] = Field(
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
        description="PEM file with the certificate of the broker; with it TLS is spoken.",
        examples=["broker.pem"],
    )
    key: Path | None = Field(
        None, description="PEM file with the key of the certificate.", examples=["broker.key"]
    )
    client_ca: Path | None = Field(
        None,
        description="PEM file with the authorities whose client certificates count; without one "
        "no client is asked.",
        examples=["ca.pem"],
    )
    client_certificates: Literal["required", "optional"] = Field(
        "required", description="Whether a client may come without a certificate."
    )
    connections: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Connections at once; a further one is closed. Without a number only the "
        "limit on all of them counts.",
        examples=[1000],
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "ListenerSection":
        if (self.certificate is None) != (self.key is None):
            raise ValueError(f"listener '{self.name}': certificate and key need each other")
        if self.client_ca and not self.certificate:
            raise ValueError(f"listener '{self.name}': client_ca needs certificate and key")
        if "client_certificates" in self.model_fields_set and not self.client_ca:
            raise ValueError(f"listener '{self.name}': client_certificates needs client_ca")
        if self.origins and not self.websocket:
            raise ValueError(f"listener '{self.name}': origins needs websocket = true")
        for origin in self.origins:
            _is_origin(origin)
        return self

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.listen.startswith(UNIX) or Address.parse(self.listen).is_loopback

    @property
    def proves(self) -> bool:
        """Whether nobody comes in without proving who they are."""
        return self.client_ca is not None and self.client_certificates == "required"
