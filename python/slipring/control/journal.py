"""The journal's part of the configuration: what is kept, how safely, for how long."""

from typing import Annotated

from pydantic import AfterValidator, Field

from slipring.archive.location import ArchiveLocation
from slipring.control.filters import Filter, covers, hiding, overlap
from slipring.control.limits import KIB, MIB
from slipring.control.section import Section, between
from slipring.errors import ConfigError
from slipring.status.message import Level

FOR_EVER = 0
"""A time or size of 0 means no bound."""
CENTURY_S = 3_155_760_000
PIB = 1 << 50
RULES_MAX = 256


def _is_archive(text: str) -> str:
    if text:
        try:
            ArchiveLocation.of(text)
        except ConfigError as error:
            raise ValueError(str(error)) from None
    return text


class JournalSection(Section):
    """What is written to disk, how safely and for how long: see docs/durability.md."""

    topics: tuple[Filter, ...] = Field(
        ("#",), description="Topic filters of what is journaled; an empty list journals nothing."
    )
    segment_bytes: Annotated[int, between(64 * KIB, 4096 * MIB)] = Field(
        64 * MIB, description="Size at which a new segment file begins."
    )
    durability: Level = Field(
        "disk",
        description="When QoS 1 and 2 messages are acknowledged: memory (at once), process "
        "(written, survives a kill) or disk (synced, survives a power cut).",
    )
    retain_age_s: Annotated[int, between(0, CENTURY_S)] = Field(
        FOR_EVER, description="Seconds after which a segment is removed; 0 keeps them for ever."
    )
    retain_bytes: Annotated[int, between(0, PIB)] = Field(
        FOR_EVER, description="Bytes above which the oldest segments are removed; 0 removes none."
    )
    bytes_max: Annotated[int, between(0, PIB)] = Field(
        FOR_EVER,
        description="Bytes at which the journal is full and QoS 1 and 2 messages are refused "
        "(0x97); 0 leaves it to the disk.",
    )
    keep_unread: bool = Field(
        True, description="Keep what a known consumer has not read yet, whatever its age and size."
    )
    archive: Annotated[str, AfterValidator(_is_archive)] = Field(
        "",
        description="Where complete segments are sent, as s3://bucket/prefix: see docs/archive.md; "
        "endpoint and keys are in the environment (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ...).",
    )
    archive_bytes_per_s: Annotated[int, between(0, PIB)] = Field(
        FOR_EVER, description="Bytes per second that are sent to the archive; 0 is no bound."
    )


class DurabilitySection(Section):
    """Another level for some topics, in place of `journal.durability`. The first match wins."""

    topics: tuple[Filter, ...] = Field(
        min_length=1,
        max_length=RULES_MAX,
        description="Topic filters.",
        examples=[("telemetry/#",)],
    )
    level: Level = Field(
        description="When they are acknowledged: memory, process or disk.", examples=["memory"]
    )


def unkept(journal: JournalSection, rules: tuple[DurabilitySection, ...]) -> str | None:
    """Explain which rule the journal cannot keep, if there is one."""
    for number, rule in enumerate(rules, 1):
        for topic in rule.topics if rule.level != "memory" else ():
            if not any(overlap(topic, kept) for kept in journal.topics):
                return (
                    f"[[durability]] number {number} asks for '{rule.level}' on '{topic}', but "
                    f"the journal has nothing of it; add '{topic}' to journal.topics, or set "
                    "level = 'memory'"
                )
    return None


def doubts(journal: JournalSection, rules: tuple[DurabilitySection, ...]) -> list[str]:
    """List settings that are allowed but probably not intended."""
    return [*_nothing_kept(journal), *_about_rules(journal, rules), *_about_room(journal)]


def _nothing_kept(journal: JournalSection) -> list[str]:
    if journal.topics:
        return []
    return ["journal.topics is empty: what is acknowledged is in memory only"]


def _about_rules(journal: JournalSection, rules: tuple[DurabilitySection, ...]) -> list[str]:
    told: list[str] = []
    earlier: list[tuple[int, str]] = []
    for number, rule in enumerate(rules, 1):
        name = f"[[durability]] number {number}"
        for topic in rule.topics:
            if found := hiding(earlier, topic):
                first, wide = found
                told.append(f"{name}: '{topic}' never counts, number {first} has '{wide}' before")
            elif rule.level != "memory" and not any(covers(kept, topic) for kept in journal.topics):
                told.append(f"{name}: of '{topic}' only what journal.topics covers is kept")
        earlier += ((number, topic) for topic in rule.topics)
    return told


def _about_room(journal: JournalSection) -> list[str]:
    retains = journal.retain_age_s or journal.retain_bytes
    if not journal.topics or not journal.bytes_max or not retains:
        return []
    told: list[str] = []
    if journal.retain_bytes >= journal.bytes_max:
        told.append("journal.bytes_max is reached before journal.retain_bytes removes anything")
    if journal.bytes_max < 2 * journal.segment_bytes:
        told.append(
            "journal.bytes_max holds less than two segments (journal.segment_bytes), and only "
            "whole segments are removed: a full journal may stay full"
        )
    return told
