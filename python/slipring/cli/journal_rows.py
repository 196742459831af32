"""The journal's rows of `slipring status`: its size, its durability, and what a start found."""

from collections.abc import Mapping
from typing import Any

from slipring.cli.display import duration, size

RULES_SHOWN = 5
DAMAGE_SHOWN = 5
Json = Mapping[str, Any]


def journal_rows(journal: Json) -> list[tuple[str, str]]:
    """Names and texts."""
    rows = [
        ("journal", _standing(journal)),
        ("durability", _durability(journal["durability"])),
        ("acknowledged", _acknowledged(journal["acknowledged"])),
    ]
    if journal["state"] != "off":
        rows.append(("retention", _retention(journal)))
        rows += [("archive", _archive(journal["archive"]))] if journal["archive"] else []
        rows += _receipt(journal["receipt"])
    return rows


def _standing(journal: Json) -> str:
    if journal["state"] == "off":
        return "off"
    waiting, messages = journal["unsynced"], journal["messages"]
    room = f" of {size(journal['bytes_max'])}" if journal["bytes_max"] else ""
    told = f"{messages:,} messages, {size(journal['bytes'])}{room}, {waiting:,} not on disk"
    lost = journal["not_journaled"]
    return f"{told}, {lost:,} not journaled" if lost else told


def _durability(durability: Json) -> str:
    rules = [f"{rule['level']} for {' '.join(rule['topics'])}" for rule in durability["rules"]]
    more = len(rules) - RULES_SHOWN
    if more > 0:
        rules[RULES_SHOWN:] = [f"and {more:,} more rules"]
    journaled = durability["journaled"]
    if not journaled:
        return "memory: nothing is journaled"
    if journaled != ["#"]:
        rules.append(f"memory for what is not in {' '.join(journaled)}")
    return "; ".join([durability["default"], *rules])


def _acknowledged(acknowledged: dict[str, int]) -> str:
    return ", ".join(f"{acknowledged[level]:,} {level}" for level in ("memory", "process", "disk"))


def _retention(journal: Json) -> str:
    retention = journal["retention"]
    bounds = []
    if retention["age_s"]:
        bounds.append(duration(retention["age_s"]))
    if retention["bytes"]:
        bounds.append(size(retention["bytes"]))
    told = " or ".join(bounds) or "for ever"
    if bounds and retention["keep_unread"]:
        told += ", what is unread is kept"
    held = journal["held_by"]
    return f"{told}; from offset {journal['first_offset']:,}" + (
        f", held back by {held}" if held else ""
    )


def _archive(archive: Json) -> str:
    held = f"offsets {archive['first_offset']:,} to {archive['end_offset']:,}"
    told = f"{archive['url']}: {held} in {archive['segments']:,} segments, {size(archive['bytes'])}"
    told += f"; {archive['behind']:,} behind, {archive['waiting']:,} segments wait"
    return f"{told}; FAILING: {archive['failure']}" if archive["failure"] else told


def _receipt(receipt: Json) -> list[tuple[str, str]]:
    rows = [("start", receipt["text"])]
    if receipt["cut_why"]:
        rows.append(("cut", receipt["cut_why"]))
    rows += (("damaged", damage["text"]) for damage in receipt["damage"][:DAMAGE_SHOWN])
    more = receipt["damage_total"] - DAMAGE_SHOWN
    if more > 0:
        rows.append(("damaged", f"{more:,} more ranges"))
    rows += (("lost", flaw) for flaw in receipt["flaws"][:DAMAGE_SHOWN])
    return rows
