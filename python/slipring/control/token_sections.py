"""Tokens in the configuration: our own issuer, other issuers, and a service that is asked."""

import ipaddress
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from slipring.control.section import Section, between

LIFETIME_MAX_S = 366 * 24 * 3_600
AUDIENCES_MAX = 16
ISSUERS_MAX = 16


def is_trusted_address(address: str) -> bool:
    """Whether nobody on the way can change what is read there: https, or this machine itself."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_fetchable(address: str) -> str:
    if address and not is_trusted_address(address):
        raise ValueError(
            f"'{address}' is neither https://... nor http:// to this machine; over plain http "
            "anybody on the way could answer"
        )
    return address


Fetchable = Annotated[str, AfterValidator(_is_fetchable)]


class TokenSection(Section):
    """Tokens of the broker's own (docs/tokens.md), made by `slipring token issue`."""

    enabled: bool = Field(False, description="Accept tokens that this broker's keys have signed.")
    issuer: str = Field(
        "slipring", min_length=1, max_length=256, description="The claim `iss` of our tokens."
    )
    audience: str = Field(
        "", max_length=256, description="The claim `aud` of our tokens; empty leaves it out."
    )
    folder: str = Field(
        "", description="Folder of the signing keys; empty is `tokens` in the data folder."
    )
    lifetime_s: Annotated[int, between(1, LIFETIME_MAX_S)] = Field(
        3_600, description="Seconds that a token lasts unless it is made for another time."
    )
    leeway_s: Annotated[int, between(0, 600)] = Field(
        5, description="Seconds beyond its end that a token is still accepted."
    )


class IssuerSection(Section):
    """Somebody else whose tokens are accepted, such as an identity provider (docs/tokens.md)."""

    name: str = Field(
        min_length=1, max_length=64, description="A name for the log.", examples=["company"]
    )
    issuer: str = Field(
        min_length=1,
        max_length=512,
        description="The claim `iss` of its tokens, compared byte by byte.",
        examples=["https://id.example"],
    )
    keys: str = Field(
        "",
        max_length=1_024,
        description="Its public keys (JWKS): a file, or an https address.",
        examples=["jwks.json"],
    )
    discovery: bool = Field(
        False,
        description="Find the keys by OpenID Connect discovery at the issuer's address instead.",
    )
    audience: tuple[str, ...] = Field(
        (),
        max_length=AUDIENCES_MAX,
        description="A token must be for one of these; empty accepts every token of the issuer.",
        examples=[("slipring",)],
    )
    user_claim: str = Field(
        "sub", min_length=1, max_length=256, description="The claim that is the user name."
    )
    roles_claim: str = Field(
        "roles",
        min_length=1,
        max_length=256,
        description="The claim with the roles; dots lead into objects (`realm_access.roles`).",
    )
    leeway_s: Annotated[int, between(0, 600)] = Field(
        30, description="Seconds that its clock may differ from ours."
    )
    cache_s: Annotated[int, between(1, 86_400)] = Field(
        300, description="Seconds after which keys from an address are fetched again."
    )
    timeout_ms: Annotated[int, between(100, 60_000)] = Field(
        5_000, description="Milliseconds that fetching the keys may take."
    )
    ca: str = Field(
        "",
        description="File of certificates (PEM) to trust there; empty trusts those of the system.",
    )

    @property
    def is_remote(self) -> bool:
        """Whether the keys come over the network."""
        return self.discovery or "://" in self.keys

    @model_validator(mode="after")
    def _has_keys(self) -> "IssuerSection":
        if bool(self.keys) == self.discovery:
            raise ValueError("an issuer needs either keys or discovery = true")
        if self.is_remote:
            _is_fetchable(self.issuer if self.discovery else self.keys)
        return self


class HookSection(Section):
    """A service of yours that is asked about clients whose password no user here has."""

    url: Fetchable = Field(
        "", max_length=1_024, description="Where the question is sent (POST); empty asks nobody."
    )
    timeout_ms: Annotated[int, between(10, 60_000)] = Field(
        2_000, description="Milliseconds that an answer may take."
    )
    cache_s: Annotated[int, between(0, 86_400)] = Field(
        60, description="Seconds that an answer is remembered; 0 asks every time."
    )
    concurrency: Annotated[int, between(1, 256)] = Field(
        16, description="Questions at once; further clients wait for their turn."
    )
    when_away: Literal["deny", "known"] = Field(
        "deny",
        description="Without an answer: `deny` everybody, or let in the `known`, whom the service "
        "allowed before with the same password.",
    )
    ca: str = Field(
        "",
        description="File of certificates (PEM) to trust there; empty trusts those of the system.",
    )


def refuse_twins(issuers: tuple[IssuerSection, ...]) -> tuple[IssuerSection, ...]:
    """Refuse two issuers with one name, or with one claim `iss`."""
    for key in ("name", "issuer"):
        values = [getattr(one, key) for one in issuers]
        for value in values:
            if values.count(value) > 1:
                raise ValueError(f"two issuers have the {key} '{value}'")
    return issuers
