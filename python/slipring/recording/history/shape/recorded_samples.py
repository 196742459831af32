"""Samples of a recording, each with the message it came in: arrays for each kind. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from slipring.frames import Run
from slipring.frames.arrays import Indices, Octets, Times, Values
from slipring.model import Kind

SAMPLE_BYTES = 37
"""The memory of a sample that is a number."""
OBJECT_BYTES = 57
"""The memory of a text or of bytes, beside their content."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSamples:
    """Samples of one kind, in the order of arrival; each array has one element per sample."""

    kind: Kind
    indices: Indices
    """The parameter's index in the table."""
    times: Times
    """The source time."""
    qualities: Octets
    values: Values
    offsets: Times
    """The message's offset in the journal."""
    receive_ns: Times
    """The message's receive time."""

    @classmethod
    def of_run(cls, run: Run, offset: int, receive_ns: int) -> Self:
        """The samples of a run that came in this message."""
        shape = (len(run),)
        return cls(
            run.kind,
            run.sample_indices(),
            run.sample_times(),
            run.sample_qualities(),
            run.values,
            np.broadcast_to(np.int64(offset), shape),
            np.broadcast_to(np.int64(receive_ns), shape),
        )

    def __len__(self) -> int:
        return len(self.times)

    def weights(self) -> Times:
        """The memory that each sample takes; a number counts as 1."""
        if self.kind.is_fixed:
            return np.ones(len(self), np.int64)
        sizes = np.fromiter(map(len, self.values), np.int64, len(self))
        return 1 + (OBJECT_BYTES + sizes) // SAMPLE_BYTES

    @property
    def weight(self) -> int:
        """The memory that all samples take; a number counts as 1."""
        return len(self) if self.kind.is_fixed else int(self.weights().sum())

    def take(self, chosen: Any) -> Self:
        """The samples that a mask or an array of positions chooses."""
        each = [getattr(self, one.name)[chosen] for one in fields(self)[1:]]
        return type(self)(self.kind, *each)

    def as_run(self) -> Run:
        """The same samples as a ragged run in which each parameter has one sample."""
        ones = np.ones(len(self), np.uint32)
        return Run(self.kind, self.indices, self.times, ones, self.qualities, self.values)


def joined(parts: Sequence[RecordedSamples]) -> list[RecordedSamples]:
    """All parts of a kind as one, in the order of arrival."""
    by_kind: dict[Kind, list[RecordedSamples]] = {}
    for part in parts:
        by_kind.setdefault(part.kind, []).append(part)
    return [_join(some) for some in by_kind.values()]


def _join(parts: list[RecordedSamples]) -> RecordedSamples:
    if len(parts) == 1:
        return parts[0]
    names = [one.name for one in fields(RecordedSamples)[1:]]
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
    joint = RecordedSamples(parts[0].kind, *columns)
    if (np.diff(joint.offsets) >= 0).all():
        return joint
    return joint.take(np.argsort(joint.offsets, kind="stable"))
