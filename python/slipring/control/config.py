"""The configuration: one TOML file in which every key has a type, bounds and a description."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from slipring.control.access import AccessSection
from slipring.control.access_folder import read_folder
from slipring.control.access_places import AccessTables
from slipring.control.access_store import AccessStore
from slipring.control.alarms_section import AlarmsSection
from slipring.control.audit import AuditSection
from slipring.control.console import ConsoleSection, ListenOrOff, unsafe_console
from slipring.control.discovery import DiscoverySection
from slipring.control.journal import RULES_MAX, DurabilitySection, JournalSection, doubts, unkept
from slipring.control.limits import LimitsSection
from slipring.control.listener import MQTT, ListenerSection
from slipring.control.log_section import LogSection
from slipring.control.mistakes import explain
from slipring.control.priorities import PrioritySection, hidden_rules
from slipring.control.quotas import QUOTAS_MAX, QuotaSection
from slipring.control.requests import BalanceSection, RequestSection
from slipring.control.section import Section, between
from slipring.control.token_sections import (
    ISSUERS_MAX,
    HookSection,
    IssuerSection,
    TokenSection,
    refuse_twins,
)
from slipring.control.trusted_file import refuse_writable_by_all
from slipring.control.users import UserSection, refuse_duplicates
from slipring.errors import ConfigError

OF_PIPELINE = "pipeline"
"""The section that is not the broker's: `slipring.pipeline.config` reads it from the same file."""


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
    core_dumps: bool = Field(
        False,
        description="Let the system write core dumps although there are users: a dump holds the "
        "passwords and keys that are in memory. For debugging (secrets.md).",
    )
    mqtt: MqttSection = MqttSection()
    console: ConsoleSection = ConsoleSection()
    discovery: DiscoverySection = DiscoverySection()
    journal: JournalSection = JournalSection()
    table: TableSection = TableSection()
    alarms: AlarmsSection = AlarmsSection()
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
    quota: tuple[QuotaSection, ...] = Field(
        (), max_length=QUOTAS_MAX, description="Quotas by user."
    )
    audit: AuditSection = AuditSection()
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
        # A folder counts even if it is empty: a disk that is not mounted must not open the broker.
        named = self.can_tell_apart or bool(self.access.rule) or bool(self.access.folder)
        named = named or self.console.oidc.is_on
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
        if told := unsafe_console(self.console, has_users=self.has_users):
            raise ValueError(told)
        return self


_OPEN = (
    "can be reached from other machines without anyone proving who they are; listen on 127.0.0.1,"
)


def _key(listener: ListenerSection) -> str:
    return "mqtt.listen" if listener.name == MQTT else f"listener '{listener.name}': listen"


def load_config(file: Path | None = None, *, again: bool = False, **overrides: Any) -> Config:
    """Read a file, and apply the options of the command line over it; None is an absent option.

    Rules and users of the folder and of the store are added to those of the file.
    A file that is read `again` and is empty is refused: it is being written, or was lost.
    """
    values = _read(file) if file else {}
    if again and not values:
        raise ConfigError(f"{file} is empty; to return to the defaults, write one of them")
    values.pop(OF_PIPELINE, None)
    for key, value in overrides.items():
        if value is not None:
            _set(values, key.split("__"), value)
    _add_places(values, file)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{file or 'configuration'}: {explain(error, Config)}") from None


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            refuse_writable_by_all(file, os.fstat(stream.fileno()))
            return tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"cannot read the config file {file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        raise ConfigError(f"{file} is not valid TOML: {error}") from None


def _add_places(values: dict[str, Any], file: Path | None) -> None:
    """Add the rules and users of other places; what is not as it should be is left for pydantic."""
    access, data = values.get("access"), values.get("data", Config.model_fields["data"].default)
    if isinstance(access, dict) and isinstance(access.get("folder"), str) and access["folder"]:
        folder = (file.parent if file else Path()) / access["folder"]
        values["access"] = access | {"folder": str(folder.absolute())}
        _add(values, read_folder(folder))
    if isinstance(data, str | Path):
        grants = AccessStore(Path(data)).read()
        _add(values, AccessTables(grants.rules, grants.users))


def _add(values: dict[str, Any], tables: AccessTables) -> None:
    access, users = values.get("access", {}), values.get("user", [])
    if tables.users and isinstance(users, list):
        values["user"] = [*users, *tables.users]
    rules = access.get("rule", []) if isinstance(access, dict) else None
    if tables.rules and isinstance(rules, list):
        values["access"] = access | {"rule": [*rules, *tables.rules]}


def _set(values: dict[str, Any], path: list[str], value: object) -> None:
    for section in path[:-1]:
        values = values.setdefault(section, {})
    values[path[-1]] = value
