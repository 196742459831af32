"""Samples as a recording has them: of one kind, a row each, with the message they came in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from slipring.frames import Run
from slipring.frames.arrays import Indices, Octets, Times, Values
from slipring.model import Kind

SAMPLE_BYTES = 37
"""Of a sample that is a number."""
OBJECT_BYTES = 57
"""Of a text or of bytes, beside what they hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """All arrays are as long as there are samples; the order is that of their arrival."""

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
        """What each sample takes of the memory, where a number takes 1."""
        if self.kind.is_fixed:
            return np.ones(len(self), np.int64)
        sizes = np.fromiter(map(len, self.values), np.int64, len(self))
        return 1 + (OBJECT_BYTES + sizes) // SAMPLE_BYTES

    @property
    def weight(self) -> int:
        """What all of them take."""
        return len(self) if self.kind.is_fixed else int(self.weights().sum())

    def take(self, chosen: Any) -> Self:
        """Those that a mask or positions choose."""
        each = [getattr(self, one.name)[chosen] for one in fields(self)[1:]]
        return type(self)(self.kind, *each)

    def as_run(self) -> Run:
        """The same as a run in which every sample stands for itself."""
        ones = np.ones(len(self), np.uint32)
        return Run(self.kind, self.indices, self.times, ones, self.qualities, self.values)


def joined(parts: Sequence[Samples]) -> list[Samples]:
    """One for each kind, each in the order of arrival."""
    by_kind: dict[Kind, list[Samples]] = {}
    for part in parts:
        by_kind.setdefault(part.kind, []).append(part)
    return [_join(some) for some in by_kind.values()]


def _join(parts: list[Samples]) -> Samples:
    if len(parts) == 1:
        return parts[0]
    names = [one.name for one in fields(Samples)[1:]]
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
    whole = Samples(parts[0].kind, *columns)
    if (np.diff(whole.offsets) >= 0).all():
        return whole
    return whole.take(np.argsort(whole.offsets, kind="stable"))
