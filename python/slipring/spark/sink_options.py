"""The options of `write.format("slipring")` and `writeStream.format("slipring")`, parsed once."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipring.credentials import OPTION_NAMES
from slipring.journal.location import SCHEMES, JournalBroker
from slipring.model import Parameter
from slipring.publication.outgoing import ROW_KINDS, RowKind
from slipring.publication.publisher import PublicationTarget

NAMES = (
    "broker", "path", "deliver", "parameters", "topic", "sink", "state", "batch",
    "checkpointLocation", "queryName", "ca", "certificate", "key", "serverName", *OPTION_NAMES,
)  # fmt: skip
FOLDER = "slipring-sink"
"""The sink's own folder in the checkpoint."""
_SINK_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True)
class SinkOptions:
    """The parsed options."""

    target: PublicationTarget
    state: Path | None
    """The folder that remembers what is on the bus."""
    batch: int | None
    """The number of a batch that is written outside a stream."""


def parse_sink_options(raw: Mapping[str, str]) -> SinkOptions:
    """Parse Spark's options, whose names ignore case; or ValueError."""
    given = {name.lower(): value for name, value in raw.items()}
    unknown = sorted(set(given) - {name.lower() for name in NAMES})
    if unknown:
        raise ValueError(f"unknown option {', '.join(unknown)}; allowed: {', '.join(NAMES)}")
    target = PublicationTarget(
        JournalBroker.from_options(_broker(given), given),
        _sink(given.get("sink", "spark")),
        _kind(given.get("deliver", "samples")),
        _parameters(given.get("parameters", "{}")),
        given.get("topic"),
    )
    return SinkOptions(target, _state(given), _batch(given.get("batch")))


def _broker(given: Mapping[str, str]) -> str:
    url = given.get("broker") or given.get("path")
    if not url or not url.startswith(SCHEMES):
        raise ValueError(
            'option broker is missing: the address to publish to, as in option("broker", '
            '"mqtt://host:1883")'
        )
    return url


def _sink(name: str) -> str:
    if not _SINK_NAME.fullmatch(name):
        raise ValueError(f"option sink is {name!r}; allowed: up to 64 letters, digits, - _ and .")
    return name


def _kind(text: str) -> RowKind:
    if text in ROW_KINDS:
        return text
    raise ValueError(f"option deliver is {text!r}; allowed: {', '.join(ROW_KINDS)}")


def _parameters(text: str) -> dict[str, Parameter]:
    try:
        found: Any = json.loads(text)
        return {str(name): Parameter.of_json(one) for name, one in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            'option parameters is a JSON object of definitions, such as {"jet/egt_margin": '
            f'{{"type": "f64", "unit": "K", "limits": {{"high": 900}}}}}}: {error}'
        ) from None


def _state(given: Mapping[str, str]) -> Path | None:
    if "state" in given:
        return Path(given["state"].removeprefix("file://"))
    checkpoint = given.get("checkpointlocation")
    if checkpoint is None:
        return None
    if re.match(r"(?!file:)[a-z][a-z0-9+.-]*://", checkpoint):
        raise ValueError(
            f"the checkpoint is at {checkpoint}; give option state, a folder of the driver that "
            "is kept as long as the checkpoint"
        )
    return Path(re.sub(r"^file:(//)?", "", checkpoint)) / FOLDER


def _batch(text: str | None) -> int | None:
    if text is None:
        return None
    if text.strip().isdecimal():
        return int(text)
    raise ValueError(f"option batch is {text!r}; allowed: a whole number from 0")
