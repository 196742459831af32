"""The limits that count for each parameter: of its definitions, and of the configured rules."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from slipring.alarms import LimitRule, LimitTerms
from slipring.native import match_topics
from slipring.pipeline.steps.limit_rows import FOREVER, RULE_SCHEMA

Version = Mapping[str, Any]
"""A definition with the offsets `since` and `until`, as the history of definitions has it."""


def limit_rules(versions: Iterable[Version], section: LimitTerms) -> pa.Table:
    """Rows of RULE_SCHEMA. `versions` are those of the history of definitions (`versions`)."""
    known = [*versions]
    names = sorted({one["name"] for one in known})
    chosen: dict[str, LimitRule] = {}
    for rule in section.rule:
        matched = match_topics([rule.filter], names)
        chosen |= {name: rule for name, hit in zip(names, matched, strict=True) if hit}
    rows = [row for one in known for row in _rows(one, chosen.get(one["name"]), section)]
    return pa.Table.from_pylist(rows, schema=RULE_SCHEMA)


def _rows(
    version: Version, rule: LimitRule | None, section: LimitTerms
) -> Iterable[dict[str, Any]]:
    declared = version.get("limits") or {} if section.definitions else {}
    thresholds = {**declared, **(rule.thresholds() if rule else {})}
    until = version["until"]
    given = (rule.hysteresis, rule.on_delay, rule.off_delay) if rule else (None, None, None)
    for limit, threshold in thresholds.items():
        yield {
            "index": version["index"],
            "limit": limit,
            "threshold": threshold,
            "hysteresis": _first(given[0], section.hysteresis),
            "on_delay_ns": _first(given[1], section.on_delay),
            "off_delay_ns": _first(given[2], section.off_delay),
            "since_offset": version["since"],
            "until_offset": FOREVER if until is None else until,
        }


def _first(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given
