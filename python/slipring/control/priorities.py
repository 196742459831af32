"""The part of the configuration that gives topics a priority."""

from typing import Literal

from pydantic import Field

from slipring.control.filters import Filter, hiding
from slipring.control.journal import RULES_MAX
from slipring.control.section import Section

PriorityLevel = Literal["high", "normal", "low"]


class PrioritySection(Section):
    """The priority of topics where nothing else names one. The first match wins."""

    topics: tuple[Filter, ...] = Field(
        min_length=1, max_length=RULES_MAX, description="Topic filters.", examples=[("alarm/#",)]
    )
    level: PriorityLevel = Field(
        description="Which messages overtake which: high, normal or low (docs/priorities.md).",
        examples=["high"],
    )


def hidden_rules(rules: tuple[PrioritySection, ...]) -> list[str]:
    """List filters that never count, because an earlier rule has all their topics."""
    told: list[str] = []
    earlier: list[tuple[int, str]] = []
    for number, rule in enumerate(rules, 1):
        for topic in rule.topics:
            if found := hiding(earlier, topic):
                first, wide = found
                told.append(
                    f"[[priority]] number {number}: '{topic}' never counts, number {first} has "
                    f"'{wide}' before"
                )
        earlier += ((number, topic) for topic in rule.topics)
    return told
