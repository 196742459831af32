"""Limits in a configuration: when a value beyond one is an event, and limits of one's own."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from slipring.alarms.length import LengthNs
from slipring.model import AlarmLimits
from slipring.native import check_filter

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
LIMITS = ("low_critical", "low", "high", "high_critical")
LEVELS = {
    "low_critical": "critical", "low": "warning", "high": "warning", "high_critical": "critical",
}  # fmt: skip
"""How much it matters when a value is beyond a limit."""


class LimitRule(BaseModel):
    """Limits of the parameters that a filter matches. What is not given is taken from others."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True
    )

    filter: str = Field(description="Which parameters, as a topic filter.", examples=["jet/+/egt"])
    low_critical: float | None = Field(
        None, description="Below it a value is critical.", examples=[-20.0]
    )
    low: float | None = Field(None, description="Below it a value is a warning.", examples=[0.0])
    high: float | None = Field(None, description="Above it a value is a warning.", examples=[850.0])
    high_critical: float | None = Field(
        None, description="Above it a value is critical.", examples=[900.0]
    )
    on_delay: LengthNs | None = Field(
        None, description="As for all parameters.", examples=["500ms"]
    )
    off_delay: LengthNs | None = Field(None, description="As for all parameters.", examples=["2s"])
    hysteresis: NotNegative | None = Field(
        None, description="As for all parameters.", examples=[5.0]
    )

    @field_validator("filter")
    @classmethod
    def _is_a_filter(cls, given: str) -> str:
        check_filter(given)
        return given

    @model_validator(mode="after")
    def _limits_rise(self) -> "LimitRule":
        AlarmLimits(**self.thresholds())
        return self

    def thresholds(self) -> dict[str, float]:
        """The limits that are given, by name."""
        given = ((name, getattr(self, name)) for name in LIMITS)
        return {name: value for name, value in given if value is not None}


class LimitTerms(BaseModel):
    """When a value beyond a limit is an event. Rules count before definitions."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True
    )

    on_delay: LengthNs = Field(
        0, description="How long values must be beyond a limit before an event begins, as in 2s."
    )
    off_delay: LengthNs = Field(0, description="How long values must be back before an event ends.")
    hysteresis: NotNegative = Field(
        0.0,
        description="How far a value must come back behind the limit to count as back, in the "
        "unit of the parameter.",
    )
    definitions: bool = Field(True, description="Whether limits of definitions count.")
    rule: tuple[LimitRule, ...] = Field(
        (), description="Limits of one's own. The last rule that matches a parameter counts."
    )
