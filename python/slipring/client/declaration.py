"""Parameters that are declared together: the requests to the broker, and the indices it gives."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from slipring.client.desk import CHANGED_MAX, Desk, in_requests
from slipring.client.rows import KindColumns, columns_by_kind
from slipring.frames.arrays import Indices
from slipring.model import Kind, Parameter


class DeclaredParameter(NamedTuple):
    """A parameter with the index that the broker gave it."""

    number: int
    """Its index."""
    kind: Kind
    parameter: Parameter


class GrantedDeclaration(NamedTuple):
    """What the broker answered."""

    table: int
    indices: Indices
    """In the order of declaration."""
    columns: dict[Kind, KindColumns]
    parameters: dict[str, DeclaredParameter]


class Declaration:
    """Names below a prefix, and their definitions."""

    def __init__(self, prefix: str, parameters: Mapping[str, Parameter | str]) -> None:
        if not parameters:
            raise ValueError("no parameters are given")
        if not isinstance(parameters, Mapping):
            raise TypeError('parameters are a dict, such as {"rpm": Parameter("f64")}')
        self.prefix = prefix
        self.parameters: dict[str, Parameter] = {
            name: _parameter(name, one) for name, one in parameters.items()
        }

    @property
    def topics(self) -> tuple[str, ...]:
        """The full names."""
        prefix = f"{self.prefix}/" if self.prefix else ""
        return tuple(prefix + name for name in self.parameters)

    async def ask(self, desk: Desk[Any]) -> GrantedDeclaration:
        """Declares everything; raises DeclareRefused.

        What does not fit into one request is declared by several; those before a refused one hold.
        The broker gives indices in the order of the rows: sorted by kind, those of a kind stay
        together.
        """
        table, indices = 0, dict[str, int]()
        by_kind = sorted(self.parameters.items(), key=lambda pair: pair[1].kind)
        rows = ({"name": name, **parameter.as_json()} for name, parameter in by_kind)
        for some in in_requests(rows, CHANGED_MAX):
            answer = await desk.ask("declare", {"prefix": self.prefix, "parameters": some})
            table = answer["table"]
            names = (row["name"] for row in some)
            indices.update(zip(names, answer["indices"], strict=True))
        return self._granted(table, indices)

    def _granted(self, table: int, numbers: dict[str, int]) -> GrantedDeclaration:
        indices = np.array([numbers[name] for name in self.parameters], np.uint32)
        kinds = [parameter.kind for parameter in self.parameters.values()]
        parameters = {
            name: DeclaredParameter(numbers[name], parameter.kind, parameter)
            for name, parameter in self.parameters.items()
        }
        return GrantedDeclaration(table, indices, columns_by_kind(kinds, indices), parameters)


def _parameter(name: str, given: Parameter | str) -> Parameter:
    if isinstance(given, str):
        return Parameter(given)
    if not isinstance(given, Parameter):
        raise TypeError(f"{name!r} is a Parameter or the name of a type, not {given!r}")
    return given
