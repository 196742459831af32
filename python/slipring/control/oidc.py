"""Logging in to the console with an identity provider (OpenID Connect), in the configuration."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from slipring.control.section import Section, between
from slipring.control.token_sections import Fetchable


class OidcSection(Section):
    """An identity provider whose people may log in to the console (docs/console.md)."""

    issuer: Fetchable = Field(
        "",
        max_length=512,
        description="The address of the provider, as it calls itself; empty is none.",
        examples=["https://id.example"],
    )
    client_id: str = Field(
        "",
        max_length=256,
        description="What the provider calls this console.",
        examples=["slipring"],
    )
    client_secret_file: Path | None = Field(
        None,
        description="File with the secret that the provider gave to this console; without it the "
        "console is a public client.",
        examples=["oidc.secret"],
    )
    address: Fetchable = Field(
        "",
        max_length=512,
        description="Where people find the console, if not where it listens. The provider must "
        "know it with /api/oidc/callback at its end.",
        examples=["https://console.example"],
    )
    scopes: tuple[str, ...] = Field(("openid",), description="What the provider is asked for.")
    user_claim: str = Field(
        "sub",
        min_length=1,
        max_length=256,
        description="The claim that is the user name. People must not be able to choose it.",
    )
    roles_claim: str = Field(
        "roles", min_length=1, max_length=256, description="The claim with the names of roles."
    )
    name: str = Field(
        "your organisation", min_length=1, max_length=64, description="What the button says."
    )
    ca: Path | None = Field(
        None,
        description="Certificates (PEM) to trust for the provider instead of the system's.",
        examples=["provider-ca.pem"],
    )
    login_s: Annotated[int, between(60, 604_800)] = Field(
        3_600,
        description="Seconds after which such a login ends: then the provider is asked again.",
    )
    timeout_ms: Annotated[int, between(100, 60_000)] = Field(
        5_000, description="Milliseconds that an answer of the provider may take."
    )

    @property
    def is_on(self) -> bool:
        """Whether there is a provider."""
        return bool(self.issuer)

    @model_validator(mode="after")
    def _fits_together(self) -> "OidcSection":
        if bool(self.issuer) != bool(self.client_id):
            raise ValueError("issuer and client_id need each other")
        if "openid" not in self.scopes:
            raise ValueError("the scopes need 'openid'")
        return self
