"""`[alarms]`: when a value beyond a limit is an alarm, with the keys of `[pipeline.limits]`."""

from pydantic import Field

from slipring.alarms import LimitRule, LimitTerms

ALARM_RULES_MAX = 128
"""Rules of alarms: each costs a comparison for every parameter that is declared."""


class AlarmsSection(LimitTerms):
    """Alarms at limits: those of the definitions, and those of rules, which count first."""

    rule: tuple[LimitRule, ...] = Field(
        (),
        max_length=ALARM_RULES_MAX,
        description="Limits of one's own. The last rule that matches a parameter counts.",
    )
