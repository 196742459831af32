"""Parameters for people: a row for each, or all facts about one. Pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from slipring.cli.display import ago, printable, sample_fields, value_text
from slipring.model import Entry, Parameter, Sample, Status

if TYPE_CHECKING:
    from rich.table import Table

STYLES = {"critical": "bold red", "warning": "yellow", "doubtful": "yellow", "stale": "dim"}
Samples = Mapping[str, Sample]


class _ExceededLimit(NamedTuple):
    """A limit that a value exceeds."""

    level: str
    why: str


def _exceeded_limit(parameter: Parameter, value: object) -> _ExceededLimit | None:
    """The worst limit that a value exceeds; None if it exceeds none."""
    limits = parameter.limits
    if limits is None or isinstance(value, str | bytes) or not isinstance(value, int | float):
        return None
    unit = f" {printable(parameter.unit)}" if parameter.unit else ""
    for level, limit, is_above in (
        ("critical", limits.high_critical, True),
        ("critical", limits.low_critical, False),
        ("warning", limits.high, True),
        ("warning", limits.low, False),
    ):
        if limit is not None and (value > limit if is_above else value < limit):
            name = "critical limit" if level == "critical" else "limit"
            where = "above" if is_above else "below"
            return _ExceededLimit(level, f"{where} the {name} of {limit:.15g}{unit}")
    return None


def state_of(parameter: Parameter, sample: Sample | None) -> tuple[str, str]:
    """The quality of a value or the limit that it exceeds, in words; and the key of its style."""
    if sample is None:
        return "no sample", "stale"
    quality, alarm = printable(str(sample.quality)), _exceeded_limit(parameter, sample.value)
    if sample.quality.status is Status.STALE:
        return (f"{quality}; it was {alarm.why}" if alarm else quality), "stale"
    if alarm:
        return (alarm.why if sample.quality.is_good else f"{alarm.why}; {quality}"), alarm.level
    return quality, "good" if sample.quality.is_good else "doubtful"


def parameter_table(entries: Iterable[Entry], samples: Samples, now_ns: int) -> "Table":
    """A table with a row for each parameter."""
    from rich.text import Text

    from slipring.cli.terminal_table import plain, table

    shown = table("name", "type", "+value", "unit", "state", "age", "description")
    for entry in entries:
        sample, parameter = samples.get(entry.name), entry.parameter
        words, style_key = state_of(parameter, sample)
        style = STYLES.get(style_key, "")
        shown.add_row(
            plain(entry.name),
            parameter.type,
            Text("" if sample is None else value_text(sample), style),
            plain(parameter.unit or ""),
            Text(words, style),
            "" if sample is None else ago((now_ns - sample.time_ns) / 1e9),
            plain(parameter.description or ""),
        )
    return shown


def parameter_facts(entry: Entry, sample: Sample | None, now_ns: int) -> list[tuple[str, str]]:
    """All facts about one parameter, a line for each."""
    parameter = entry.parameter
    unit = f" {parameter.unit}" if parameter.unit else ""
    facts = [
        ("name", entry.name),
        ("value", "" if sample is None else f"{value_text(sample)}{unit}"),
        ("state", state_of(parameter, sample)[0]),
        ("time", "" if sample is None else _time_and_age(sample.time_ns, now_ns)),
        ("type", parameter.type),
        ("labels", ", ".join(f"{key} {label}" for key, label in (parameter.labels or {}).items())),
        ("range", _range(parameter)),
        ("limits", _limits(parameter)),
        ("rate", "" if parameter.rate_hz is None else f"{parameter.rate_hz:.15g} Hz expected"),
        ("source", parameter.source or ""),
        ("description", parameter.description or ""),
        ("index", str(entry.index)),
    ]
    return [(name, text) for name, text in facts if text]


def as_object(entry: Entry, sample: Sample | None) -> dict[str, Any]:
    """A parameter as JSON; with `alarm` if its value exceeds a limit."""
    row = {"index": entry.index, "name": entry.name, **entry.parameter.as_json()}
    if sample is None:
        return row
    alarm = _exceeded_limit(entry.parameter, sample.value)
    return row | sample_fields(sample) | ({"alarm": alarm.level} if alarm else {})


def _time_and_age(time_ns: int, now_ns: int) -> str:
    seconds, rest_ns = divmod(time_ns, 1_000_000_000)
    try:
        at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError):
        return f"{time_ns} ns"
    return f"{at}.{rest_ns // 1_000_000:03d}Z, {ago((now_ns - time_ns) / 1e9)}"


def _range(parameter: Parameter) -> str:
    return "" if parameter.range is None else "{:.15g} to {:.15g}".format(*parameter.range)


def _limits(parameter: Parameter) -> str:
    given = asdict(parameter.limits) if parameter.limits else {}
    named = ((key.replace("_", " "), limit) for key, limit in given.items() if limit is not None)
    return ", ".join(f"{name} {limit:.15g}" for name, limit in named if math.isfinite(limit))
