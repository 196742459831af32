"""A frame as its reader sees it: samples of many parameters, by name or as arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from slipring.frames.arrays import NO_TIME, Floats, Indices, Octets, Times, Values, distinct
from slipring.frames.header import NS_PER_S, FrameArrival, Header, hops_of
from slipring.frames.run import Run
from slipring.frames.table import Table
from slipring.model import Hops, Quality, Sample
from slipring.model.notebook import ROWS_MAX, html_table
from slipring.model.sample import CELLS, time_text

if TYPE_CHECKING:
    import pandas as pd


class Samples(NamedTuple):
    """All samples of one parameter, in the order they came in."""

    times: Times
    values: Values
    qualities: Octets
    """As their bytes; `Quality.of_byte` says what one means."""

    def _repr_html_(self) -> str:
        """For notebooks: the first samples."""
        columns = (column[:ROWS_MAX].tolist() for column in self)
        rows = (
            (time_text(time_ns), value, Quality.of_byte(byte))
            for time_ns, value, byte in zip(*columns, strict=True)
        )
        heads = ("time (UTC)", "value", "quality")
        return html_table(f"{len(self.times):,} samples", heads, rows, len(self.times))


class Frame:
    """Samples that came together. Arrays are made when they are asked for, and kept.

    `frame["gripen/39-7/engine/rpm"]` is a parameter's newest sample here; a parameter that did not
    change is not in a frame.
    """

    def __init__(
        self, table: Table, runs: Sequence[Run], header: Header, arrival: FrameArrival
    ) -> None:
        self.table = table
        """What the indices mean."""
        self.runs: tuple[Run, ...] = tuple(runs)
        """The samples as the frame has them: one kind each."""
        self.header = header
        """What the broker says about it."""
        self.arrival = arrival
        """When it arrived here."""

    @classmethod
    def joined(cls, frames: "Sequence[Frame]") -> "Frame":
        """Frames of one table as one, in their order, with the header and arrival of the last."""
        if not frames:
            raise ValueError("there is no frame to join")
        last = frames[-1]
        if any(frame.table is not last.table for frame in frames):
            raise ValueError("frames of several tables cannot be joined")
        runs = [run for frame in frames for run in frame.runs]
        return cls(last.table, runs, last.header, last.arrival)

    @classmethod
    def empty(cls, table: Table) -> "Frame":
        """A frame without samples."""
        return cls(table, [], Header(table.identity, 0, 0), FrameArrival(0, 0))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        """How many samples there are."""
        return sum(map(len, self.runs))

    def __repr__(self) -> str:
        return f"<Frame {self.sequence}: {len(self)} samples of {len(self.indices)} parameters>"

    def _repr_html_(self) -> str:
        """For notebooks: the newest samples of the first parameters."""
        first = self.table.names(self.indices[:ROWS_MAX]).tolist()
        rows = ((name, *self[name].cells()) for name in first)
        return html_table(repr(self)[1:-1], ("name", *CELLS), rows, len(self.indices))

    @property
    def sequence(self) -> int:
        """Its number for its filter, from 0 on each connection; a gap is frames that were lost."""
        return self.header.sequence

    @property
    def sent_ns(self) -> int:
        """When the broker sent it, by the broker's clock."""
        return self.header.sent_ns

    @cached_property
    def indices(self) -> Indices:
        """The parameters in it, ascending."""
        return distinct([run.indices for run in self.runs])

    @property
    def names(self) -> list[str]:
        """The names of the parameters in it, in the order of their indices."""
        found: list[str] = self.table.names(self.indices).tolist()
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __getitem__(self, name: str) -> Sample:
        found = self.get(name)
        if found is None:
            raise KeyError(f"no sample of {name!r} is in this frame")
        return found

    def get(self, name: str) -> Sample | None:
        """The newest sample of a parameter; None if the frame has none."""
        index = self.table.find(name)
        if index is None:
            return None
        for run in reversed(self.runs):
            column = run.column(index)
            if column is not None:
                return self._sample(index, *run.last(column))
        return None

    def samples(self, name: str) -> Samples:
        """All samples of a parameter here, as arrays of its own type; empty if there are none.

        `times, values, qualities = frame.samples(name)`
        """
        index = self.table.index(name)
        columns = [(run, run.column(index)) for run in self.runs]
        parts = [run.part(column) for run, column in columns if column is not None]
        if not parts:
            return Samples(np.empty(0, np.int64), np.empty(0), np.empty(0, np.uint8))
        return Samples(
            np.concatenate([part.times for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.sample_qualities() for part in parts]),
        )

    def each(self) -> Iterator[tuple[str, Sample]]:
        """Names and samples one by one, in the order of `runs`: for people, not for high rates."""
        for run in self.runs:
            columns = (run.sample_times(), run.sample_qualities(), run.values)
            indices = run.sample_indices()
            rows = zip(indices.tolist(), *(column.tolist() for column in columns), strict=True)
            for name, (index, time_ns, byte, value) in zip(
                self.table.names(indices).tolist(), rows, strict=True
            ):
                yield name, self._sample(index, value, time_ns, Quality.of_byte(byte))

    def values(self, names: Iterable[str] | Indices | None = None) -> Floats:
        """The newest number of each parameter; NaN if the frame has none.

        Truth values are 0 and 1, enumerations their numbers, texts NaN. Names that are asked for
        often are better given as their indices (`table.indices(names)`). Without names, all that
        are here, in the order of `names`.
        """
        return self._newest(names, np.float64(np.nan), Run.sample_numbers)

    def times(self, names: Iterable[str] | Indices | None = None) -> Times:
        """The source time of the newest sample of each parameter; NO_TIME if there is none.

        To `datetime64[ns]`, NO_TIME is NaT.
        """
        return self._newest(names, NO_TIME, Run.sample_times)

    def qualities(self, names: Iterable[str] | Indices | None = None) -> Octets:
        """The quality of the newest sample of each parameter, as its byte; 0 (good) if none."""
        return self._newest(names, np.uint8(0), Run.sample_qualities)

    def _newest(
        self,
        names: Iterable[str] | Indices | None,
        missing: np.generic,
        of_samples: Callable[[Run], Values],
    ) -> Values:
        wanted = self._wanted(names)
        found: Values = np.full(len(wanted), missing)
        for run in self.runs:
            which, columns = run.columns(wanted)
            if len(which):
                found[which] = of_samples(run)[run.newest()][columns]
        return found

    @cached_property
    def newest_ns(self) -> int:
        """The newest source time in it; 0 in an empty frame."""
        return max((run.newest_ns() for run in self.runs if len(run)), default=0)

    @property
    def age_s(self) -> float:
        """How old its newest sample was when its reader took it, as far as clocks are known."""
        return (self._taken_ns() - self.newest_ns) / NS_PER_S

    @property
    def ages_s(self) -> Floats:
        """The same for every sample, in the order of `runs`."""
        if not self.runs:
            return np.empty(0)
        times = np.concatenate([run.sample_times() for run in self.runs])
        ages: Floats = (self._taken_ns() - times) / NS_PER_S
        return ages

    @property
    def hops(self) -> Hops | None:
        """Where its newest sample spent its time.

        None if the broker does not say it, or this client's clock was not measured yet.
        """
        return hops_of(self.newest_ns, self.header, self.arrival)

    @property
    def uncertainty_s(self) -> float | None:
        """How wrong `age_s` and `hops` can be because of this client's clock; None if unknown."""
        uncertainty_ns = self.arrival.uncertainty_ns
        return None if uncertainty_ns is None else uncertainty_ns / NS_PER_S

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with a row for each sample, and always the same columns.

        `index`, `name`, `time`, `quality` and `reason`; the value is in `value` (float64) if it is
        a number, in `integer` as well if it is a whole one, else in `text` or `bytes`.
        """
        from slipring.frames.arrow import to_arrow

        return to_arrow(self.table, self.runs)

    def to_pandas(self) -> "pd.DataFrame":
        """A DataFrame with a row for each time and a column for each parameter; gaps are NaN.

        Numbers, truth values and enumerations are float64, texts and bytes objects. Needs pandas.
        """
        from slipring.frames.wide import to_pandas

        return to_pandas(self.table, self.runs)

    def _taken_ns(self) -> int:
        """When its reader took it, by the clock of the publisher."""
        published = self.header.published
        skew_ns = published.skew_ns if published else 0
        return self.arrival.taken_ns + self.arrival.offset_ns - skew_ns

    def _wanted(self, names: Iterable[str] | Indices | None) -> Indices:
        if names is None:
            return self.indices
        if isinstance(names, np.ndarray):
            return names
        return self.table.indices([names] if isinstance(names, str) else names)

    def _sample(self, index: int, value: Any, time_ns: int, quality: Any) -> Sample:
        parameter = self.table.parameter(index)
        labels = parameter.labels if parameter else None
        return Sample(value, time_ns, quality, labels.get(value) if labels else None)
