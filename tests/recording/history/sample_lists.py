"""Random recorded samples, and the same samples as a plain list to compare with."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from slipring.model import Entry, Parameter, Quality
from slipring.recording.history.read.definitions import Definitions
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.recorded_samples import RecordedSamples
from tests.frames.naive import TABLE, runs

DEFINITIONS = Definitions(7, TABLE.entries())
CHOSEN = DEFINITIONS.columns_matching(["#"], "the test")


class Recorded(NamedTuple):
    """One sample of the list."""

    name: str
    time: int
    quality: int
    value: Any
    offset: int
    receive: int


class History(NamedTuple):
    """Messages of samples, each a list of parts, and all samples in their order."""

    messages: list[list[RecordedSamples]]
    samples: list[Recorded]

    @property
    def parts(self) -> list[RecordedSamples]:
        return [part for message in self.messages for part in message]

    def cells(self) -> dict[int, dict[str, Recorded]]:
        """By time and name the last sample."""
        found: dict[int, dict[str, Recorded]] = defaultdict(dict)
        for sample in self.samples:
            found[sample.time][sample.name] = sample
        return dict(sorted(found.items()))


def name_of(index: int) -> str:
    found: str = TABLE.names(np.array([index], np.uint32))[0]
    return found


def parameter_of(name: str) -> Parameter:
    return TABLE[name].parameter


@st.composite
def histories(draw: st.DrawFn) -> History:
    messages, samples = [], []
    receive = 1_000
    for offset, some in enumerate(
        draw(st.lists(st.lists(runs(), min_size=1, max_size=2), max_size=6))
    ):
        receive += draw(st.integers(0, 3))
        shift = draw(st.integers(-20, 20))
        parts = []
        for run, naive in some:
            moved = RecordedSamples.of_run(run, offset, receive)
            parts.append(moved.take(slice(None)))
            object.__setattr__(parts[-1], "times", moved.times + shift)
            samples += [
                Recorded(
                    name_of(one.parameter),
                    one.time + shift,
                    one.quality,
                    one.value,
                    offset,
                    receive,
                )
                for one in naive
            ]
        messages.append(parts)
    return History(messages, samples)


def chosen_of(*parameters: tuple[str, Parameter]) -> ExportColumns:
    """Parameters with the indices 0, 1 and so on."""
    entries = [Entry(index, name, one) for index, (name, one) in enumerate(parameters)]
    return ExportColumns(Definitions(7, entries).table, entries)


def told(sample: Recorded) -> Any:
    """The value as a wide table has it: of an enumeration the label, or the number as text."""
    labels = parameter_of(sample.name).labels
    return labels.get(sample.value, str(sample.value)) if labels else sample.value


def words(quality: int) -> str:
    return str(Quality.of_byte(quality))
