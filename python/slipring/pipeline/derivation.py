"""A parameter that is computed from others: its inputs, its times, and how. Quick to import."""

import importlib
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slipring.errors import ConfigError
from slipring.model import Parameter
from slipring.pipeline.derive_section import DeriveSection
from slipring.pipeline.expression_units import (
    UnlikeUnits,
    declared_mismatch,
    expression_unit,
)
from slipring.pipeline.steps.align_rows import AlignmentRule

_BACKQUOTED = re.compile(r"`((?:[^`]|``)+)`")


@dataclass(frozen=True)
class Derivation:
    """One derived parameter."""

    name: str
    inputs: tuple[str, ...]
    rule: AlignmentRule
    definition: Parameter
    expression: str | None = None
    """SQL over the inputs in back quotes."""
    function: Callable[[Any], Any] | None = None
    """From a pandas DataFrame with a column for each input, indexed by time, to a column."""
    bus: bool = True
    """Whether it is published, too."""

    @property
    def index(self) -> int:
        """Its number in the lake's table `derived`, where one parameter lies together."""
        return zlib.crc32(self.name.encode()) & 0x7FFF_FFFF

    def sql(self) -> str | None:
        """The expression over the columns `v0`, `v1` ... of aligned rows."""
        if self.expression is None:
            return None
        numbers = {name: number for number, name in enumerate(self.inputs)}
        return _BACKQUOTED.sub(
            lambda found: f"v{numbers[found[1].replace('``', '`')]}", self.expression
        )

    @classmethod
    def of(cls, name: str, section: DeriveSection) -> "Derivation":
        """As the configuration has it; ConfigError if its function cannot be imported."""
        function = section.function
        rule = AlignmentRule(
            len(section.inputs), section.every_ns, section.late, section.hold, section.ahead
        )
        return cls(
            name,
            section.inputs,
            rule,
            section.definition(),
            section.expression,
            None if function is None else _imported(name, function),
            section.bus,
        )


def check_units(derivations: Sequence[Derivation], units: Mapping[str, str | None]) -> None:
    """Refuse expressions whose units do not fit; ConfigError names every mistake.

    `units` are those of the inputs, by name. One whose input is not there yet is not checked.
    """
    problems = []
    for one in derivations:
        if one.expression is None or any(name not in units for name in one.inputs):
            continue
        try:
            found = expression_unit(one.expression, units)
            problem = declared_mismatch(found, one.definition.unit)
        except UnlikeUnits as error:
            problem = str(error)
        if problem is not None:
            problems.append(f"pipeline.derive.{one.name}: {problem}")
    if problems:
        raise ConfigError("; ".join(problems))


def derivations_of(sections: Mapping[str, DeriveSection]) -> list[Derivation]:
    """All derived parameters; ConfigError if one is an input of another."""
    for name, section in sections.items():
        if found := [one for one in section.inputs if one in sections]:
            raise ConfigError(
                f"pipeline.derive.{name}: {found[0]} is derived itself; write its expression out, "
                "because values that are derived from derived ones would wait twice"
            )
    return [Derivation.of(name, section) for name, section in sections.items()]


def _imported(name: str, where: str) -> Callable[[Any], Any]:
    module, _, function = where.partition(":")
    try:
        found: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"pipeline.derive.{name}: cannot import {where}: {error}") from None
    return found
