"""The law of the alignment, written sample by sample: what `align_rows` must equal."""

from dataclasses import dataclass

from slipring.pipeline.steps.align_rows import AlignmentRule


@dataclass(frozen=True)
class NaiveSample:
    input: int
    source_ns: int
    value: float
    quality: int
    offset: int
    receive_ns: int


def naive_alignment(
    rule: AlignmentRule, samples: list[NaiveSample]
) -> dict[int, tuple[tuple[float, ...], int, int]]:
    """Values, quality and highest offset at each time that is final."""
    samples = [one for one in samples if one.source_ns <= one.receive_ns + rule.ahead_ns]
    if not samples:
        return {}
    found = {}
    first, last = min(one.source_ns for one in samples), max(one.source_ns for one in samples)
    for time in range(first, last + 1):
        closers = [one.offset for one in samples if one.source_ns > time + rule.late_ns]
        if not closers or not _is_wanted(rule, time, samples, min(closers)):
            continue
        # A sample counts if it came no later than the message that made the time final.
        there = [one for one in samples if one.source_ns <= time and one.offset <= min(closers)]
        row = []
        for number in range(rule.inputs):
            mine = [one for one in there if one.input == number]
            newest = max(mine, key=lambda one: (one.source_ns, one.offset), default=None)
            if newest is not None and time - newest.source_ns <= rule.hold_ns:
                row.append(newest)
        if len(row) == rule.inputs:
            status = max(one.quality >> 6 for one in row)
            quality = 0x87 if status >= 2 else 0x47 if status == 1 else 0
            values = tuple(one.value for one in row)
            found[time] = (values, quality, max(one.offset for one in row))
    return found


def _is_wanted(rule: AlignmentRule, time: int, samples: list[NaiveSample], closer: int) -> bool:
    if rule.every_ns is not None:
        return time % rule.every_ns == 0
    return any(one.input == 0 and one.source_ns == time and one.offset <= closer for one in samples)
