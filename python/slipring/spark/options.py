"""The options of `format("slipring")`, parsed once. Must never open a journal."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast, get_args

import pyarrow as pa

from slipring.credentials import OPTION_NAMES
from slipring.journal import columns as message_columns
from slipring.journal import frame_rows, rollup, samples
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

Deliver = Literal["messages", "samples", "frames", "rollup", "ranges"]

RANGES_SCHEMA = pa.schema(
    [pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False)]
)
SCHEMAS: Mapping[Deliver, pa.Schema] = {
    "messages": message_columns.SCHEMA,
    "samples": samples.SCHEMA,
    "frames": frame_rows.SCHEMA,
    "rollup": rollup.SCHEMA,
    "ranges": RANGES_SCHEMA,
}
"""The columns of each kind of row."""

BYTES_PER_TRIGGER_MAX = 128 << 20
"""What a micro-batch takes from the journal if nothing is said: it bounds its duration."""
WINDOW_NS = 1_000_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LENGTH = re.compile(r"(\d+)\s*(ns|us|ms|s|m|h)")
_UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}

BROKER_NAMES = (*OPTION_NAMES, "ca", "certificate", "key", "serverName")
ARCHIVE_NAMES = (*S3_OPTIONS, "cache", "cacheBytes")

NAMES = (
    "path",
    "broker",
    "startingOffset",
    "endingOffset",
    "startingTime",
    "endingTime",
    "sourceFrom",
    "sourceTo",
    "filter",
    "window",
    "partitions",
    "cores",
    "maxMessagesPerTrigger",
    "maxBytesPerTrigger",
    "columns",
    "deliver",
    "pushFilters",
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
    receive_ns: tuple[int | None, int | None] = (None, None)
    """A batch has messages received from the first time on, and before the second."""
    source_ns: tuple[int, int] | None = None
    filters: tuple[str, ...] = ()
    """On topics, for messages and frames; on the names of parameters otherwise."""
    window_ns: int = WINDOW_NS
    partitions: int | None = None
    cores: int | None = None
    """How many tasks run at a time; those of this machine, if nothing is said."""
    messages_per_trigger_max: int | None = None
    bytes_per_trigger_max: int = BYTES_PER_TRIGGER_MAX
    columns: tuple[str, ...] = message_columns.COLUMNS
    deliver: Deliver = "messages"
    consumer: str | None = None
    push_filters: bool = False

    @property
    def schema(self) -> pa.Schema:
        """The columns that are asked for."""
        return pa.schema([SCHEMAS[self.deliver].field(name) for name in self.columns])


def parse_options(raw: Mapping[str, str]) -> SourceOptions:
    """Parse Spark's options, whose names ignore case; or ValueError."""
    given = {name.lower(): value for name, value in raw.items()}
    _refuse_unknown(given)
    deliver = _deliver(given.get("deliver", "messages"))
    if deliver == "ranges":
        for name in {"columns", "filter"} & given.keys():
            raise ValueError(f"option {name} does not go with deliver=ranges")
    if deliver != "rollup" and "window" in given:
        raise ValueError("option window goes with deliver=rollup only")
    if deliver not in ("samples", "rollup") and ("sourcefrom" in given or "sourceto" in given):
        raise ValueError("options sourceFrom and sourceTo go with deliver=samples or rollup only")
    return SourceOptions(
        location=_location(given),
        starting_offset=_bound("startingOffset", given.get("startingoffset", "earliest")),
        ending_offset=_bound("endingOffset", given.get("endingoffset", "latest")),
        receive_ns=(_time_ns(given, "startingTime"), _time_ns(given, "endingTime")),
        source_ns=_source_ns(given),
        filters=_filters(given.get("filter", "")),
        window_ns=_length_ns("window", given.get("window", "1s")),
        partitions=_count("partitions", given.get("partitions")),
        cores=_count("cores", given.get("cores")),
        messages_per_trigger_max=_count(
            "maxMessagesPerTrigger", given.get("maxmessagespertrigger")
        ),
        bytes_per_trigger_max=_count("maxBytesPerTrigger", given.get("maxbytespertrigger"))
        or BYTES_PER_TRIGGER_MAX,
        columns=_columns(given.get("columns"), tuple(SCHEMAS[deliver].names)),
        deliver=deliver,
        consumer=given.get("consumer"),
        push_filters=_truth("pushFilters", given.get("pushfilters", "false")),
    )


def parse_stream_options(raw: Mapping[str, str]) -> SourceOptions:
    """The same for a stream, which has no end, and continues at its checkpoint."""
    given = {name.lower() for name in raw}
    for name in ("endingOffset", "startingTime", "endingTime", "pushFilters"):
        if name.lower() in given:
            raise ValueError(
                f"option {name} goes with read only: a stream begins at startingOffset or at its "
                "checkpoint, and has no end; use where"
            )
    return parse_options(raw)


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
        return JournalArchive.from_options(path, broker, given)
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


def _columns(text: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if text is None:
        return known
    names = tuple(name.strip() for name in text.split(","))
    unknown = [name for name in names if name not in known]
    if unknown or len(set(names)) < len(names):
        raise ValueError(
            f"option columns is {text!r}; allowed: some of {', '.join(known)}, each once"
        )
    return names


def _deliver(text: str) -> Deliver:
    allowed = get_args(Deliver)
    if text in allowed:
        return cast("Deliver", text)
    raise ValueError(f"option deliver is {text!r}; allowed: {', '.join(allowed)}")


def _filters(text: str) -> tuple[str, ...]:
    return tuple(part for line in text.split(",") if (part := line.strip()))


def _truth(name: str, text: str) -> bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise ValueError(f"option {name} is {text!r}; allowed: true, false")


def _time_ns(given: Mapping[str, str], name: str) -> int | None:
    """A time as ISO 8601, UTC unless it says otherwise, or as nanoseconds since 1970."""
    text = given.get(name.lower())
    if text is None:
        return None
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"option {name} is {text!r}; allowed: a time like 2026-11-17T12:00:00Z, or nanoseconds "
            "since 1970"
        ) from None
    since = (found if found.tzinfo else found.replace(tzinfo=UTC)) - EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000


def _source_ns(given: Mapping[str, str]) -> tuple[int, int] | None:
    start, end = _time_ns(given, "sourceFrom"), _time_ns(given, "sourceTo")
    if start is None and end is None:
        return None
    return -(1 << 63) if start is None else start, (1 << 63) - 1 if end is None else end


def _length_ns(name: str, text: str) -> int:
    found = _LENGTH.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise ValueError(f"option {name} is {text!r}; allowed: a length like 1s, 100ms or 1m")
    return int(found[1]) * _UNITS_NS[found[2]]
