"""What is declared together, as requests to the broker, and the indices it answers with."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from slipring.client.asking import CHANGED_MAX, REQUEST_BYTES_MAX, Asking
from slipring.client.rows import Part, parts_of
from slipring.frames.arrays import Indices
from slipring.model import Kind, Parameter


class Place(NamedTuple):
    """Where samples of a name go."""

    number: int
    """Its index."""
    kind: Kind
    parameter: Parameter


class Granted(NamedTuple):
    """What the broker answered."""

    table: int
    indices: Indices
    """In the order of declaration."""
    parts: dict[Kind, Part]
    places: dict[str, Place]


class Declaration:
    """Names below a prefix, and what they are."""

    def __init__(self, prefix: str, parameters: Mapping[str, Parameter | str]) -> None:
        if not parameters:
            raise ValueError("no parameters are given")
        if not isinstance(parameters, Mapping):
            raise TypeError('parameters are a dict, such as {"rpm": Parameter("f64")}')
        self.prefix = prefix
        self.parameters = {name: _parameter(name, one) for name, one in parameters.items()}

    @property
    def topics(self) -> tuple[str, ...]:
        """The full names."""
        prefix = f"{self.prefix}/" if self.prefix else ""
        return tuple(prefix + name for name in self.parameters)

    async def ask(self, asking: Asking) -> Granted:
        """Declares everything; raises DeclareRefused.

        What does not fit into one request goes in several: then those before the one that is
        refused hold.
        """
        table, numbers = 0, dict[str, int]()
        for rows in self._requests():
            body = {"prefix": self.prefix, "parameters": rows}
            answer = await asking.ask("declare", body)
            table = answer["table"]
            names = (row["name"] for row in rows)
            numbers.update(zip(names, answer["indices"], strict=True))
        return self._granted(table, numbers)

    def _requests(self) -> Iterator[list[dict[str, Any]]]:
        """Sorted by kind, as the broker gives indices: then those of a kind stay together."""
        rows = list[dict[str, Any]]()
        size = 0
        for name, parameter in sorted(self.parameters.items(), key=lambda pair: pair[1].kind):
            row = {"name": name, **parameter.as_json()}
            length = len(json.dumps(row)) + 2
            if rows and (size + length > REQUEST_BYTES_MAX or len(rows) == CHANGED_MAX):
                yield rows
                rows, size = [], 0
            rows.append(row)
            size += length
        yield rows

    def _granted(self, table: int, numbers: dict[str, int]) -> Granted:
        indices = np.array([numbers[name] for name in self.parameters], np.uint32)
        kinds = [parameter.kind for parameter in self.parameters.values()]
        places = {
            name: Place(numbers[name], parameter.kind, parameter)
            for name, parameter in self.parameters.items()
        }
        return Granted(table, indices, parts_of(kinds, indices), places)


def _parameter(name: str, given: Parameter | str) -> Parameter:
    if isinstance(given, str):
        return Parameter(given)
    if not isinstance(given, Parameter):
        raise TypeError(f"{name!r} is a Parameter or the name of a type, not {given!r}")
    return given
