"""The configuration: one TOML file, every key typed, bounded, documented. Never guesses."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from slipring.control.address import Address
from slipring.control.limits import KIB, MIB, LimitsSection
from slipring.control.section import Section
from slipring.errors import ConfigError


def _is_address(text: str) -> str:
    Address.parse(text)
    return text


def _is_address_or_off(text: str) -> str:
    return text if text == "off" else _is_address(text)


Listen = Annotated[str, AfterValidator(_is_address)]
ListenOrOff = Annotated[str, AfterValidator(_is_address_or_off)]


class MqttSection(Section):
    """Where MQTT clients connect."""

    listen: Listen = Field(
        "127.0.0.1:1883", description="HOST:PORT for MQTT over TCP; port 0 picks a free one."
    )
    server_reference: str = Field(
        "",
        max_length=1024,
        description="Another broker, as HOST:PORT, told to MQTT 5 clients there is no room for.",
    )
    sys_interval_s: int = Field(
        10,
        ge=0,
        le=3_600,
        description="Seconds between two tellings of the $SYS topics; 0 is never.",
    )


class ConsoleSection(Section):
    """The web page for people."""

    listen: ListenOrOff = Field("127.0.0.1:8080", description="HOST:PORT of the console, or `off`.")


class JournalSection(Section):
    """What is written to disk for replay and for the lake."""

    topics: tuple[str, ...] = Field(
        ("#",), description="Topic filters of what is journaled; an empty list journals nothing."
    )
    segment_bytes: int = Field(
        64 * MIB, ge=64 * KIB, le=4096 * MIB, description="Size at which a new segment file begins."
    )


class LogSection(Section):
    """What is told on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least important level that is still written."
    )
    format: Literal["text", "json"] = Field(
        "text", description="Lines for people, or one JSON object in each line for programs."
    )


class Config(Section):
    """A broker's configuration."""

    name: str = Field(
        "slipring",
        min_length=1,
        max_length=64,
        description="The broker's name, shown in the console.",
    )
    data: Path = Field(
        Path("slipring-data"), description="Folder of the journal, made if it is not there."
    )
    threads: int = Field(2, ge=1, le=256, description="Threads of the engine.")
    allow_anonymous: bool = Field(
        False,
        description="Accept clients that have not proved who they are from other machines too.",
    )
    mqtt: MqttSection = MqttSection()
    console: ConsoleSection = ConsoleSection()
    journal: JournalSection = JournalSection()
    limits: LimitsSection = LimitsSection()
    log: LogSection = LogSection()

    @model_validator(mode="after")
    def _is_safe(self) -> "Config":
        for key, listen in (("mqtt", self.mqtt.listen), ("console", self.console.listen)):
            if (
                listen != "off"
                and not self.allow_anonymous
                and not Address.parse(listen).is_loopback
            ):
                raise ValueError(
                    f"{key}.listen = '{listen}' can be reached from other machines without anyone "
                    "proving who they are; listen on 127.0.0.1, or set allow_anonymous = true in "
                    "the config file"
                )
        return self


def load_config(file: Path | None = None, **overrides: Any) -> Config:
    """Read a file and lay what the command line says over it; None means not said."""
    values = _read(file) if file else {}
    for key, value in overrides.items():
        if value is not None:
            _set(values, key.split("__"), value)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{file or 'configuration'}: {_explain(error)}") from None


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


def _explain(error: ValidationError) -> str:
    first, *rest = error.errors(include_url=False)
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        message = "there is no such key; `slipring config` lists them all"
    else:
        message = first["msg"].removeprefix("Value error, ")
    more = f" (and {len(rest)} more)" if rest else ""
    return f"{key}: {message}{more}" if key else message + more
