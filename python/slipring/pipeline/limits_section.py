"""`[pipeline.limits]`: when a value beyond a limit becomes an event, and limits of one's own."""

from pydantic import Field

from slipring.alarms import LengthNs, LimitTerms


class LimitsSection(LimitTerms):
    """Events at limits: those of the definitions, and those of rules, which count first."""

    state_every: LengthNs = Field(
        5_000_000_000, description="How often the state of all limits is written, at most."
    )
