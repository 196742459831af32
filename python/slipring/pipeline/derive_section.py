"""`[pipeline.derive."NAME"]`: a parameter that is computed from others."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from slipring.alarms import LengthNs, length_or_number
from slipring.model import AlarmLimits, Parameter
from slipring.pipeline.section import PipelineSection

SAMPLE: Literal["sample"] = "sample"
DerivedType = Literal["f64", "f32", "bool", "u8", "u16", "u32", "i8", "i16", "i32"]
_BACKQUOTED = re.compile(r"`((?:[^`]|``)+)`")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def _step(given: object) -> object:
    if given == SAMPLE:
        return given
    every_ns = length_or_number(given)
    if every_ns == 0:
        raise ValueError("every is 0; write a step such as '100ms', or 'sample'")
    return every_ns


class LimitsOfDerived(PipelineSection):
    """The limits with which a derived parameter is declared."""

    low_critical: float | None = Field(None, description="Below it a value is critical.")
    low: float | None = Field(None, description="Below it a value is a warning.")
    high: float | None = Field(None, description="Above it a value is a warning.")
    high_critical: float | None = Field(None, description="Above it a value is critical.")


class DeriveSection(PipelineSection):
    """A parameter that the pipeline computes from others, and its inputs, time steps and limits."""

    expression: str | None = Field(
        None,
        description="SQL over the inputs, each in back quotes; in place of `function`.",
        examples=["1000 - `jet/engine/1/egt`"],
    )
    function: str | None = Field(
        None,
        description="A Python function, as MODULE:NAME, which gets a pandas DataFrame with a "
        "column for each input and returns a Series; in place of `expression`.",
        examples=["my_module:egt_margin"],
    )
    inputs: tuple[str, ...] = Field(
        (),
        description="Names of the inputs. An expression names its own; a function needs them here.",
    )
    type: DerivedType = Field("f64", description="Type of the values.")
    unit: str = Field("", description="Unit of the values; compared with that of the expression.")
    description: str = Field("", max_length=1_000, description="What it is, for people.")
    every: Annotated[int | Literal["sample"], BeforeValidator(_step)] = Field(
        SAMPLE,
        description="Time between two values, such as 100ms, at multiples of it since 1970; or "
        "`sample`: at each sample of the first input.",
        examples=["100ms"],
    )
    late: LengthNs = Field(
        500_000_000,
        description="How far the source times of the inputs go on before a value is final. A "
        "sample that arrives after that counts for later values only.",
    )
    hold: LengthNs = Field(
        10_000_000_000,
        description="How old a sample of an input may be and still count; without one of every "
        "input there is no value.",
    )
    ahead: LengthNs = Field(
        60_000_000_000,
        description="A sample whose source time is more than this after its receive time has a "
        "wrong clock, and is left out.",
    )
    limits: LimitsOfDerived = Field(LimitsOfDerived(), description="Limits of the values.")
    bus: bool = Field(True, description="Publish the values to the broker, too.")

    @model_validator(mode="before")
    @classmethod
    def _inputs_of_expression(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("expression") and not given.get("inputs"):
            return {**given, "inputs": expression_inputs(str(given["expression"]))}
        return given

    @model_validator(mode="after")
    def _is_complete(self) -> "DeriveSection":
        if (self.expression is None) == (self.function is None):
            raise ValueError("give either expression or function")
        if self.function is not None and not _FUNCTION.fullmatch(self.function):
            raise ValueError(f"function is {self.function!r}; write MODULE:NAME")
        if not self.inputs:
            where = "inputs" if self.function else "the expression, in back quotes"
            raise ValueError(f"there are no inputs; name them in {where}")
        if len(set(self.inputs)) < len(self.inputs):
            raise ValueError("an input is named twice")
        named = expression_inputs(self.expression or "")
        if missing := [name for name in named if name not in self.inputs]:
            raise ValueError(f"the expression has `{missing[0]}`, which is not among the inputs")
        self.definition()
        return self

    @property
    def every_ns(self) -> int | None:
        """The step of the time grid; None if values are at the samples of the first input."""
        return None if self.every == SAMPLE else int(self.every)

    def definition(self) -> Parameter:
        """The definition with which it is declared; ValueError if limits do not rise."""
        given = self.limits.model_dump(exclude_none=True)
        # Without a rate: values come a batch at a time, and would be stale between two of them.
        return Parameter(
            self.type,
            unit=self.unit or None,
            description=self.description or None,
            limits=AlarmLimits(**given) if given else None,
            source="slipring pipeline derive",
        )


def expression_inputs(expression: str) -> tuple[str, ...]:
    """The names in back quotes, each once, in their order."""
    names = (name.replace("``", "`") for name in _BACKQUOTED.findall(expression))
    return tuple(dict.fromkeys(names))
