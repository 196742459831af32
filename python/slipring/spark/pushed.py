"""Spark's filters as narrower options. Spark checks every row itself, so too much is no mistake."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from slipring.spark.options import EPOCH, SourceOptions

_NAMES = {"messages": "topic", "frames": "topic", "samples": "parameter", "rollup": "parameter"}
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
_US_NS = 1_000


def narrowed(options: SourceOptions, filters: Sequence[Filter]) -> SourceOptions:
    """The options without what these filters exclude; a filter that says nothing is ignored."""
    for one in filters:
        column = ".".join(getattr(one, "attribute", ("",)))
        if column == _NAMES.get(options.deliver):
            options = _named(options, one)
        elif column in ("receive_ns", "receive_time"):
            low, high = _range_ns(one)
            since, until = options.receive_ns
            low = low if since is None else max(low, since)
            high = high if until is None else min(high, until)
            options = replace(options, receive_ns=(low, high))
        elif column in ("source_ns", "source_time") and options.deliver == "samples":
            low, high = _range_ns(one)
            since, until = options.source_ns or (_LEAST, _GREATEST)
            options = replace(options, source_ns=(max(low, since), min(high, until)))
    return options


def _named(options: SourceOptions, one: Filter) -> SourceOptions:
    if isinstance(one, EqualTo):
        names: tuple[Any, ...] = (one.value,)
    elif isinstance(one, In):
        names = one.value
    else:
        return options
    # A name with a wildcard is no topic; filters that are given already are narrower or equal.
    if options.filters or any(set("+#") & set(str(name)) for name in names):
        return options
    return replace(options, filters=tuple(map(str, names)))


def _range_ns(one: Filter) -> tuple[int, int]:
    """The first time that can match, and the first one after all that can."""
    if not isinstance(one, EqualTo | GreaterThan | GreaterThanOrEqual | LessThan | LessThanOrEqual):
        return _LEAST, _GREATEST
    least, after = _instant_ns(one.value)
    if isinstance(one, EqualTo):
        return least, after
    if isinstance(one, GreaterThan | GreaterThanOrEqual):
        return least, _GREATEST
    return _LEAST, after


def _instant_ns(value: object) -> tuple[int, int]:
    """The nanoseconds that a value may mean: a timestamp stands for all of its microsecond."""
    if isinstance(value, datetime):
        since = (value if value.tzinfo else value.replace(tzinfo=UTC)) - EPOCH
        micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        return micros * _US_NS, (micros + 1) * _US_NS
    if isinstance(value, int):
        return value, value + 1
    return _LEAST, _GREATEST
