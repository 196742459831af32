"""`[pipeline.limits]`: when a value beyond a limit becomes an event, and limits of one's own."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from slipring.model import AlarmLimits
from slipring.native import check_filter
from slipring.pipeline.section import LengthNs, PipelineSection

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LimitRule(PipelineSection):
    """Limits of the parameters that a filter matches. What is not given is taken from others."""

    filter: str = Field(description="Which parameters, as a topic filter.", examples=["jet/+/egt"])
    low_critical: float | None = Field(None, description="Below it a value is critical.")
    low: float | None = Field(None, description="Below it a value is a warning.")
    high: float | None = Field(None, description="Above it a value is a warning.")
    high_critical: float | None = Field(None, description="Above it a value is critical.")
    on_delay: LengthNs | None = Field(None, description="As in `limits`.")
    off_delay: LengthNs | None = Field(None, description="As in `limits`.")
    hysteresis: NotNegative | None = Field(None, description="As in `limits`.")

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
        names = ("low_critical", "low", "high", "high_critical")
        given = ((name, getattr(self, name)) for name in names)
        return {name: value for name, value in given if value is not None}


class LimitsSection(PipelineSection):
    """Events at limits: those of the definitions, and those of rules, which count first."""

    on_delay: LengthNs = Field(
        0, description="How long values must be beyond a limit before an event begins."
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
    state_every: LengthNs = Field(
        5_000_000_000, description="How often the state of all limits is written, at most."
    )
