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
    the row's first field is the label's value. With `of` there is a second label, for the row
    that has the list.
    """

    base: str
    label: str | None = None
    of: str | None = None
    kind: ClassVar[str] = "gauge"
    suffix: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """As it is scraped."""
        return f"slipring_{self.base}{self.suffix}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its labels."""
        return tuple(one for one in (self.of, self.label) if one is not None)


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
    """One metric with its samples: the values of the labels, and the number."""

    metric: Gauge
    meaning: str
    samples: list[tuple[tuple[str, ...], float]]


@cache
def fields(described: type) -> list[Field]:
    """Read the fields of a TypedDict: each is `Annotated[type, meaning]`, a metric may follow."""
    hints = get_type_hints(described, include_extras=True)
    return [Field(name, *get_args(hint)) for name, hint in hints.items()]


def families(
    described: type, rows: Sequence[Mapping[str, Any]], outer: Sequence[str] = ()
) -> Iterator[Family]:
    """List every metric of a TypedDict, with the samples of these dictionaries.

    `outer` has for each of them the first field of the row that it is in.
    """
    first, *_ = all_fields = fields(described)
    around = outer or [""] * len(rows)
    for field in all_fields:
        if field.metric is not None:
            pairs = zip(rows, around, strict=True)
            samples = [
                one for row, of in pairs for one in _samples(field, row, row[first.name], of)
            ]
            yield Family(field.metric, field.meaning, samples)
        elif field.inner is not None:
            inner = [(one, row[first.name]) for row in rows for one in _rows(row[field.name])]
            yield from families(field.inner, [one for one, _ in inner], [of for _, of in inner])


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


def _samples(
    field: Field, row: Mapping[str, Any], first: str, of: str
) -> list[tuple[tuple[str, ...], float]]:
    metric, value = field.metric, row[field.name]
    if metric is None or metric.label is None:
        return [((), value or 0)]
    outer = () if metric.of is None else (of,)
    if isinstance(value, Mapping):
        return [((*outer, name), count) for name, count in value.items()]
    return [] if value is None else [((*outer, first), value)]
