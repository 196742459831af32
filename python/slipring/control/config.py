"""The configuration: one TOML file in which every key has a type, bounds and a description."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from slipring.control.access import AccessSection
from slipring.control.address import Address
from slipring.control.discovery import DiscoverySection
from slipring.control.journal import RULES_MAX, DurabilitySection, JournalSection, doubts, unkept
from slipring.control.limits import LimitsSection
from slipring.control.listener import MQTT, ListenerSection
from slipring.control.log_section import LogSection
from slipring.control.mistakes import explain
from slipring.control.priorities import PrioritySection, hidden_rules
from slipring.control.requests import BalanceSection, RequestSection
from slipring.control.section import Section, between
from slipring.control.token_sections import (
    ISSUERS_MAX,
    HookSection,
    IssuerSection,
    TokenSection,
    refuse_twins,
)
from slipring.control.users import UserSection, refuse_duplicates
from slipring.errors import ConfigError


def _is_address_or_off(text: str) -> str:
    if text != "off":
        Address.parse(text)
    return text


OF_PIPELINE = "pipeline"
"""The section that is not the broker's: `slipring.pipeline.config` reads it from the same file."""

ListenOrOff = Annotated[str, AfterValidator(_is_address_or_off)]


class MqttSection(Section):
    """Where MQTT clients connect."""

    listen: ListenOrOff = Field(
        "127.0.0.1:1883",
        description="HOST:PORT for MQTT over TCP, or `off`; port 0 picks a free one.",
    )
    server_reference: str = Field(
        "",
        max_length=1024,
        description="Another broker, as HOST:PORT; MQTT 5 clients are sent there when this one is "
        "full.",
    )
    sys_interval_s: Annotated[int, between(0, 3_600)] = Field(
        10, description="Seconds between two updates of the $SYS topics; 0 turns them off."
    )


class TableSection(Section):
    """The current value table: parameters and their samples."""

    beat_ms: Annotated[int, between(0, 10_000)] = Field(
        20,
        description="Milliseconds that samples are gathered into one frame for a subscriber that "
        "names no beat; 0 sends them at once.",
    )
    stale_periods: Annotated[int, between(1, 1_000_000)] = Field(
        5,
        description="Periods of its nominal rate after which a parameter without samples is stale.",
    )
    stale_min_ms: Annotated[int, between(1, 3_600_000)] = Field(
        200, description="Milliseconds that any parameter may be silent before it is stale."
    )
    future_s: Annotated[int, between(0, 1_000_000_000)] = Field(
        3_600,
        description="Seconds that the time of a sample may be ahead of the broker's clock; a frame "
        "with a later one is refused.",
    )


class ConsoleSection(Section):
    """The web page for people."""

    listen: ListenOrOff = Field("127.0.0.1:8080", description="HOST:PORT of the console, or `off`.")
    allow_anonymous: bool = Field(
        False,
        description="Show the console to other machines too. It has no login: everyone who can "
        "connect sees all values, clients and events, and can change nothing.",
    )
    connections: Annotated[int, between(4, 65_536)] = Field(
        256,
        description="Connections to the console at most, half of them open pages; at the bound a "
        "newcomer takes the place of one that waits, or of the address that has most.",
    )

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return self.listen == "off" or Address.parse(self.listen).is_loopback


class Config(Section):
    """A broker's configuration."""

    name: str = Field(
        "slipring",
        min_length=1,
        max_length=64,
        description="The broker's name, for the console and for programs that look for brokers.",
    )
    data: Path = Field(
        Path("slipring-data"), description="Folder of the journal, made if it is not there."
    )
    threads: Annotated[int, between(0, 256)] = Field(
        0, description="Threads of the engine; 0 leaves one processor free and takes the others."
    )
    allow_anonymous: bool = Field(
        False,
        description="Accept clients that have not proved who they are from other machines too, "
        "and, where there are users, those that bring no credentials.",
    )
    mqtt: MqttSection = MqttSection()
    console: ConsoleSection = ConsoleSection()
    discovery: DiscoverySection = DiscoverySection()
    journal: JournalSection = JournalSection()
    table: TableSection = TableSection()
    limits: LimitsSection = LimitsSection()
    log: LogSection = LogSection()
    durability: tuple[DurabilitySection, ...] = Field(
        (), max_length=RULES_MAX, description="Levels of durability by topic."
    )
    priority: tuple[PrioritySection, ...] = Field(
        (), max_length=RULES_MAX, description="Priorities by topic."
    )
    request: tuple[RequestSection, ...] = Field(
        (), max_length=RULES_MAX, description="Topics whose messages are requests."
    )
    balance: tuple[BalanceSection, ...] = Field(
        (), max_length=RULES_MAX, description="How services are chosen, by topic."
    )
    listener: tuple[ListenerSection, ...] = Field((), description="Further listeners.")
    user: Annotated[tuple[UserSection, ...], AfterValidator(refuse_duplicates)] = Field(
        (), description="Who may connect; without any user, everyone may."
    )

    access: AccessSection = AccessSection()
    token: TokenSection = TokenSection()
    hook: HookSection = HookSection()
    issuer: Annotated[tuple[IssuerSection, ...], AfterValidator(refuse_twins)] = Field(
        (), max_length=ISSUERS_MAX, description="Others whose tokens are accepted."
    )

    @property
    def token_folder(self) -> Path:
        """The folder of our own signing keys, and of what was revoked."""
        return Path(self.token.folder) if self.token.folder else self.data / "tokens"

    @property
    def asks_or_checks(self) -> bool:
        """Whether clients prove themselves by tokens, or by a service that is asked."""
        return self.token.enabled or bool(self.issuer) or bool(self.hook.url)

    @property
    def can_tell_apart(self) -> bool:
        """Whether a client must prove who it is on every listener."""
        return bool(self.user) or self.asks_or_checks

    @property
    def has_users(self) -> bool:
        """Whether clients differ by who they are: then rights are asked for."""
        named = self.can_tell_apart or bool(self.access.rule)
        return named or any(listener.proves for listener in self.listeners)

    @property
    def listeners(self) -> tuple[ListenerSection, ...]:
        """All listeners, that of `[mqtt]` first."""
        if self.mqtt.listen == "off":
            return self.listener
        # Skips validation, which reserves this name.
        mqtt = ListenerSection.model_construct(name=MQTT, listen=self.mqtt.listen)
        return (mqtt, *self.listener)

    @model_validator(mode="after")
    def _has_one_own_issuer(self) -> "Config":
        if self.token.enabled and self.token.issuer in [one.issuer for one in self.issuer]:
            raise ValueError("an [[issuer]] has the issuer of [token]; give ours another")
        return self

    @model_validator(mode="after")
    def _can_be_reached(self) -> "Config":
        names = [listener.name for listener in self.listeners]
        if not names:
            raise ValueError("mqtt.listen is off and there is no [[listener]]; name one")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two listeners are named '{name}'")
        return self

    @property
    def doubts(self) -> list[str]:
        """Settings that are allowed but probably not intended: a sentence for each."""
        return [*doubts(self.journal, self.durability), *hidden_rules(self.priority)]

    @model_validator(mode="after")
    def _can_be_kept(self) -> "Config":
        if told := unkept(self.journal, self.durability):
            raise ValueError(told)
        return self

    @model_validator(mode="after")
    def _is_safe(self) -> "Config":
        for listener in self.listeners:
            is_guarded = listener.is_loopback or listener.proves or self.can_tell_apart
            if not (is_guarded or self.allow_anonymous):
                raise ValueError(
                    f"{_key(listener)} = '{listener.listen}' {_OPEN} add a [[user]], ask for "
                    "client certificates with client_ca, or set allow_anonymous = true in the "
                    "config file"
                )
        if not (self.console.is_private or self.console.allow_anonymous):
            raise ValueError(
                f"console.listen = '{self.console.listen}' can be reached from other machines, "
                "and the console has no login: [[user]] and allow_anonymous are about MQTT; "
                "listen on 127.0.0.1 and connect through ssh -L, or by a proxy with a login "
                "(docs/console.md says what it must do), or show it to everyone "
                "with allow_anonymous = true under [console] in the config file"
            )
        return self


_OPEN = (
    "can be reached from other machines without anyone proving who they are; listen on 127.0.0.1,"
)


def _key(listener: ListenerSection) -> str:
    return "mqtt.listen" if listener.name == MQTT else f"listener '{listener.name}': listen"


def load_config(file: Path | None = None, *, again: bool = False, **overrides: Any) -> Config:
    """Read a file, and apply the options of the command line over it; None is an absent option.

    A file that is read `again` and is empty is refused: it is being written, or was lost.
    """
    values = _read(file) if file else {}
    if again and not values:
        raise ConfigError(f"{file} is empty; to return to the defaults, write one of them")
    values.pop(OF_PIPELINE, None)
    for key, value in overrides.items():
        if value is not None:
            _set(values, key.split("__"), value)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{file or 'configuration'}: {explain(error, Config)}") from None


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"cannot read the config file {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from None


def _set(values: dict[str, Any], path: list[str], value: object) -> None:
    for section in path[:-1]:
        values = values.setdefault(section, {})
    values[path[-1]] = value
