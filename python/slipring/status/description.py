"""How a field is described, and how descriptions are read. Standard library only."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar, cast, get_args, get_type_hints, is_typeddict

Part = TypeVar("Part")


@dataclass(frozen=True)
class Gauge:
    """A metric that goes up and down.

    With a label there is a sample for each key of a dictionary; or, in a list, for each row, and
    the row's first field is the label's value.
    """

    base: str
    label: str | None = None
    kind: ClassVar = "gauge"
    suffix: ClassVar = ""

    @property
    def name(self) -> str:
        """As it is scraped."""
        return f"slipring_{self.base}{self.suffix}"


class Counter(Gauge):
    """A metric that counts since the start."""

    kind = "counter"
    suffix = "_total"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a described dictionary."""

    name: str
    annotation: Any
    meaning: str
    metric: Gauge | None = None

    @property
    def inner(self) -> type | None:
        """The described dictionary that it is, or has a list of, or may be."""
        return next((one for one in _parts(self.annotation) if is_typeddict(one)), None)


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with its samples: the value of the label, or None, and the number."""

    metric: Gauge
    meaning: str
    samples: list[tuple[str | None, float]]


@cache
def fields(described: type) -> list[Field]:
    """Read the fields of a TypedDict: each is `Annotated[type, meaning]`, a metric may follow."""
    hints = get_type_hints(described, include_extras=True)
    return [Field(name, *get_args(hint)) for name, hint in hints.items()]


def families(described: type, rows: Sequence[Mapping[str, Any]]) -> Iterator[Family]:
    """List every metric of a TypedDict, with the samples of these dictionaries."""
    first, *_ = all_fields = fields(described)
    for field in all_fields:
        if field.metric is not None:
            samples = [one for row in rows for one in _samples(field, row, row[first.name])]
            yield Family(field.metric, field.meaning, samples)
        elif field.inner is not None:
            values = (row[field.name] for row in rows)
            yield from families(field.inner, [one for value in values for one in _rows(value)])


def without_links(meaning: str) -> str:
    """Remove the links to other pages of the docs, and keep their words."""
    return re.sub(r"\[(.+?)\]\(.+?\)", r"\1", meaning)


def part(described: type[Part], told: Mapping[str, Any]) -> Part:
    """Take the fields of a smaller TypedDict out of a larger one."""
    return cast("Part", {name: told[name] for name in described.__annotations__})


def _parts(type_: Any) -> Iterator[Any]:
    yield type_
    for one in get_args(type_):
        yield from _parts(one)


def _rows(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _samples(field: Field, row: Mapping[str, Any], first: str) -> list[tuple[str | None, float]]:
    metric, value = field.metric, row[field.name]
    if metric is None or metric.label is None:
        return [(None, value or 0)]
    if isinstance(value, Mapping):
        return [*value.items()]
    return [] if value is None else [(first, value)]
