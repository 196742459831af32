"""The options of `format("slipring")`, parsed once. Must never open a journal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from slipring.journal.columns import COLUMNS
from slipring.journal.location import (
    S3_OPTIONS,
    SCHEMES,
    JournalArchive,
    JournalBroker,
    JournalFolder,
    JournalLocation,
    is_archive,
)
from slipring.journal.offsets import OffsetBound

Deliver = Literal["messages", "ranges"]

BROKER_NAMES = ("user", "password", "ca", "certificate", "key", "serverName")
ARCHIVE_NAMES = (*S3_OPTIONS, "cache", "cacheBytes")

NAMES = (
    "path",
    "broker",
    "startingOffset",
    "endingOffset",
    "partitions",
    "maxMessagesPerTrigger",
    "columns",
    "deliver",
    "consumer",
    *BROKER_NAMES,
    *ARCHIVE_NAMES,
)


@dataclass(frozen=True)
class SourceOptions:
    """The parsed options."""

    location: JournalLocation
    starting_offset: OffsetBound = "earliest"
    ending_offset: OffsetBound = "latest"
    partitions: int | None = None
    messages_per_trigger_max: int | None = None
    columns: tuple[str, ...] = COLUMNS
    deliver: Deliver = "messages"
    consumer: str | None = None


def parse_options(raw: Mapping[str, str]) -> SourceOptions:
    """Parse Spark's options, whose names ignore case; or ValueError."""
    given = {name.lower(): value for name, value in raw.items()}
    _refuse_unknown(given)
    deliver = _deliver(given.get("deliver", "messages"))
    if deliver == "ranges" and "columns" in given:
        raise ValueError("option columns goes with deliver=messages only")
    return SourceOptions(
        location=_location(given),
        starting_offset=_bound("startingOffset", given.get("startingoffset", "earliest")),
        ending_offset=_bound("endingOffset", given.get("endingoffset", "latest")),
        partitions=_count("partitions", given.get("partitions")),
        messages_per_trigger_max=_count(
            "maxMessagesPerTrigger", given.get("maxmessagespertrigger")
        ),
        columns=_columns(given.get("columns")),
        deliver=deliver,
        consumer=given.get("consumer"),
    )


def _refuse_unknown(given: Mapping[str, str]) -> None:
    unknown = sorted(set(given) - {name.lower() for name in NAMES})
    if unknown:
        raise ValueError(f"unknown option {', '.join(unknown)}; allowed: {', '.join(NAMES)}")


def _location(given: Mapping[str, str]) -> JournalLocation:
    path, broker = given.get("path"), given.get("broker")
    if path and path.startswith(SCHEMES):
        path, broker = broker, path
    if path and is_archive(path):
        if not broker:
            _refuse(BROKER_NAMES, given, f"a broker only, and {path} is an archive")
        return JournalArchive.from_options(path, given)
    if path and broker:
        raise ValueError("options path and broker are both given; give one of them")
    _refuse(ARCHIVE_NAMES, given, f"an archive only, and {broker or path} is none")
    if broker:
        return JournalBroker.from_options(broker, given)
    if not path:
        raise ValueError(
            'option path is missing: the journal\'s directory, as in load("data/journal"), or a '
            'broker\'s address, as in load("mqtt://host:1883"), or an archive, as in '
            'load("s3://bucket/prefix")'
        )
    _refuse(BROKER_NAMES, given, f"a broker only, and {path} is a directory")
    return JournalFolder(path.removeprefix("file://"))


def _refuse(names: tuple[str, ...], given: Mapping[str, str], why: str) -> None:
    for name in names:
        if name.lower() in given:
            raise ValueError(f"option {name} goes with {why}")


def _bound(name: str, text: str) -> OffsetBound:
    word = text.strip().lower()
    if word in ("earliest", "latest"):
        return cast("OffsetBound", word)
    if word.isdecimal():
        return int(word)
    raise ValueError(f"option {name} is {text!r}; allowed: earliest, latest or an offset like 1000")


def _count(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if text.strip().isdecimal() and int(text) > 0:
        return int(text)
    raise ValueError(f"option {name} is {text!r}; allowed: a whole number from 1")


def _columns(text: str | None) -> tuple[str, ...]:
    if text is None:
        return COLUMNS
    names = tuple(name.strip() for name in text.split(","))
    unknown = [name for name in names if name not in COLUMNS]
    if unknown or len(set(names)) < len(names):
        raise ValueError(
            f"option columns is {text!r}; allowed: some of {', '.join(COLUMNS)}, each once"
        )
    return names


def _deliver(text: str) -> Deliver:
    if text in ("messages", "ranges"):
        return cast("Deliver", text)
    raise ValueError(f"option deliver is {text!r}; allowed: messages, ranges")
