"""The console in the configuration: where it listens, and who may come to it from elsewhere."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from slipring.control.address import Address
from slipring.control.oidc import OidcSection
from slipring.control.section import Section, between
from slipring.native import check_topic


def _is_address_or_off(text: str) -> str:
    if text != "off":
        Address.parse(text)
    return text


def _is_parameter_name(text: str) -> str:
    check_topic(text)
    return text


def _is_one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("write one line, without control characters")
    return text


def _is_lake(text: str) -> str:
    if text.startswith("s3://") and not text.removeprefix("s3://").strip("/"):
        raise ValueError("it names no bucket: write s3://bucket/prefix")
    return _is_one_line(text)


SOURCE_MAX = 120
MARK_MAX = 24
QUICK_LOOK_PLOTS_MAX = 4
QUICK_LOOK_NAMES_MAX = 8
"""Parameters of one plot of the quick look."""
ListenOrOff = Annotated[str, AfterValidator(_is_address_or_off)]
ParameterName = Annotated[str, AfterValidator(_is_parameter_name)]
QuickLookPlot = Annotated[
    tuple[ParameterName, ...], Field(min_length=1, max_length=QUICK_LOOK_NAMES_MAX)
]


class ConsoleSection(Section):
    """The web page for people. With users, people log in (docs/console.md)."""

    listen: ListenOrOff = Field("127.0.0.1:8080", description="HOST:PORT of the console, or `off`.")
    allow_anonymous: bool = Field(
        False,
        description="Show the console to other machines without a login, too. Without users "
        "everyone who can connect sees all values, clients and events, and can change nothing; "
        "with users, what rules about `anyone` allow.",
    )
    connections: Annotated[int, between(4, 65_536)] = Field(
        400,
        description="Connections to the console at most, half of them WebSockets, of which a "
        "browser's tab has up to three; at the bound a newcomer takes the place of one that "
        "waits, or of the address that has most.",
    )
    certificate: Path | None = Field(
        None,
        description="PEM file with the certificate of the console; with it the page has HTTPS.",
        examples=["console.crt"],
    )
    key: Path | None = Field(
        None, description="PEM file with the key of the certificate.", examples=["console.key"]
    )
    behind_proxy: bool = Field(
        False,
        description="Whether every request comes through a proxy that speaks HTTPS, and adds the "
        "address of who asks to X-Forwarded-For. Nobody else may reach the console then.",
    )
    idle_s: Annotated[int, between(60, 604_800)] = Field(
        1_800, description="Seconds without a request or an open page after which a login ends."
    )
    login_s: Annotated[int, between(60, 604_800)] = Field(
        43_200, description="Seconds after which a login ends in any case."
    )

    source: Annotated[str, Field(max_length=SOURCE_MAX), AfterValidator(_is_one_line)] = Field(
        "",
        description="Where the data comes from, for the page's top bar; empty shows the broker's "
        "name.",
        examples=["Gripen 39-7, flight 211"],
    )
    mark: Annotated[str, Field(max_length=MARK_MAX), AfterValidator(_is_one_line)] = Field(
        "",
        description="A mark that every page shows, so that such data is not taken for other data.",
        examples=["DEMO DATA"],
    )

    lake: Annotated[str, AfterValidator(_is_lake)] = Field(
        "",
        description="The lake that plots read, as a folder or s3://bucket/prefix; empty takes the "
        "folder `lake` in the broker's data folder, if it is there.",
        examples=["s3://telemetry/lake"],
    )

    quick_look: Annotated[tuple[QuickLookPlot, ...], Field(max_length=QUICK_LOOK_PLOTS_MAX)] = (
        Field(
            (),
            description="What the first page draws: up to four plots, each with the names of its "
            "parameters; the broker keeps their last minutes in memory. Without it the page draws "
            "the first parameters that have limits.",
            examples=[[["jet/air/altitude"], ["jet/engine/n1", "jet/engine/n2"]]],
        )
    )

    oidc: OidcSection = OidcSection()

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return self.listen == "off" or Address.parse(self.listen).is_loopback

    @property
    def has_tls(self) -> bool:
        """Whether it speaks HTTPS itself."""
        return self.certificate is not None

    @model_validator(mode="after")
    def _fits_together(self) -> "ConsoleSection":
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate and key need each other")
        if self.certificate is not None and self.behind_proxy:
            raise ValueError("either the console speaks HTTPS (certificate), or behind_proxy does")
        return self


def unsafe_console(console: ConsoleSection, *, has_users: bool) -> str | None:
    """Why a console must not listen like this; None if it may."""
    if console.behind_proxy and not has_users:
        return (
            "console.behind_proxy needs users: without a login everyone who reaches the proxy "
            "would see everything; add a [[user]]"
        )
    if console.is_private or console.has_tls or console.behind_proxy:
        is_guarded = console.is_private or has_users or console.allow_anonymous
        return None if is_guarded else _open(console, _NEEDS_USERS)
    return None if console.allow_anonymous else _open(console, _NEEDS_TLS if has_users else _ALONE)


def _open(console: ConsoleSection, advice: str) -> str:
    return f"console.listen = '{console.listen}' can be reached from other machines, {advice}"


_NEEDS_USERS = (
    "and without users it has no login; add a [[user]], listen on 127.0.0.1, or show it to "
    "everyone with allow_anonymous = true under [console] in the config file"
)
_NEEDS_TLS = (
    "and passwords would cross the network in clear; set certificate and key under [console], or "
    "behind_proxy = true if a proxy does TLS, or listen on 127.0.0.1 and connect through ssh -L"
)
_ALONE = (
    "and without users it has no login; listen on 127.0.0.1 and connect through ssh -L, or add a "
    "[[user]] and set certificate and key under [console] (docs/console.md), or show it to "
    "everyone with allow_anonymous = true under [console] in the config file"
)
