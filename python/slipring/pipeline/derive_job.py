"""The job `derive`: each batch of the journal becomes values in the lake and on the bus, once.

A batch is a range of offsets. Killed anywhere, the job goes on behind the last range that the lake
has; what of that range is not on the bus yet is published first.
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (Spark's own habit)

from slipring.errors import LakeConflict, PipelineError
from slipring.pipeline.derivation import Derivation, check_units
from slipring.pipeline.derive_store import DeriveStore
from slipring.pipeline.steps.derive import align, with_values
from slipring.pipeline.steps.derive_rows import NEWEST, work_of_states
from slipring.pipeline.steps.derived_samples import derived_samples
from slipring.publication.publisher import BatchPublisher

SamplesOf = Callable[[int, int], DataFrame]
"""The samples of the offsets [start, end), each partition a range in the order of the journal."""

BACKFILL_ROWS = 20_000_000
"""Samples that a backfill aligns at once."""


class DeriveJob:
    """Derived parameters of one journal."""

    def __init__(
        self,
        derivations: Sequence[Derivation],
        store: DeriveStore,
        publisher: BatchPublisher | None = None,
        units: Mapping[str, str | None] | None = None,
    ) -> None:
        """`units` are those of the inputs; ConfigError if an expression does not fit them."""
        check_units(derivations, units or {})
        self._derivations = tuple(derivations)
        self._store = store
        self._publisher = publisher
        self._states: pa.Table | None = None
        self._has_states = False
        """Whether the states at the position are read: a backfill does not need them."""
        self._states_at: int | None = None
        """The offset up to which the states have the journal."""
        self._publish_last()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The parameters whose samples the job needs."""
        return tuple(dict.fromkeys(name for one in self._derivations for name in one.inputs))

    def position(self) -> int | None:
        """The offset up to which values are in the lake; None before the first batch."""
        return self._store.position()

    def rows_written(self) -> dict[str, int]:
        """Values that were committed."""
        return self._store.rows_written()

    def write(self, samples_of: SamplesOf, start: int, end: int) -> int:
        """Add the offsets [start, end) as far as they are missing; how many values there were."""
        # The call before may have failed between the lake and the bus.
        self._publish_last()
        position = self._store.position()
        if position is not None and start > position:
            raise PipelineError(
                f"derived parameters have the journal up to offset {position}, and cannot go on "
                f"at {start}; read from {position} on"
            )
        begin = start if position is None else max(start, position)
        if begin >= end:
            return 0
        if not self._has_states:
            self._states, self._has_states = self._store.states(self._derivations), True
            self._states_at = position
        if position != self._states_at:
            raise LakeConflict(
                f"another run of the job derive has brought its table to offset {position}; this "
                f"one was at {self._states_at}: stop one of them"
            )
        samples, states = self._computed(samples_of(begin, end), self._states, in_order=True)
        self._store.commit(end, samples, states, self._derivations)
        self._states, self._states_at = states, end
        self._publish_last()
        self._store.forget_before(end)
        return len(samples)

    def finish(self) -> None:
        """End the connection to the broker."""
        if self._publisher is not None:
            self._publisher.close()

    def backfill(
        self, samples: DataFrame, from_ns: int, to_ns: int, rows_max: int = BACKFILL_ROWS
    ) -> int:
        """Compute the values in [from, to) again from history, and put them into the lake.

        The samples may be in any order. The values are those that were, or would have been,
        computed live; nothing is published. Values that the job has still to compute are left to
        it: they would be there twice. Returns how many there are.
        """
        found, finals = list[pa.Table](), dict[int, int]()
        states: pa.Table | None = None
        if (position := self._store.position()) is not None:
            samples = samples.where(F.col("offset") < position)
        for part in self._slices(samples, from_ns, rows_max):
            values, states = self._computed(part, states, in_order=False)
            times = values.column("source_ns").to_numpy()
            found.append(values.filter(pa.array((times >= from_ns) & (times < to_ns))))
            finals = _final_ns(states, self._derivations)
            if len(finals) == len(self._derivations) and min(finals.values()) >= to_ns:
                break
        if not found:
            return 0
        order = [("index", "ascending"), ("source_ns", "ascending")]
        together = pa.concat_tables(found).unify_dictionaries().sort_by(order)
        until = {
            one.name: to_ns if position is None else min(to_ns, finals.get(number, to_ns))
            for number, one in enumerate(self._derivations)
        }
        self._store.replace(together, from_ns, until)
        return len(together)

    def _computed(
        self, samples: DataFrame, states: pa.Table | None, *, in_order: bool
    ) -> tuple[pa.Table, pa.Table]:
        aligned = align(samples, self._derivations, states=states, in_order=in_order)
        evaluated = with_values(aligned, self._derivations).toArrow()
        made = derived_samples(evaluated, self._derivations, self._store.journal)
        return made, work_of_states(evaluated)

    def _publish_last(self) -> None:
        """Put the values of the last batch on the bus, as far as they are not there."""
        position = self._store.position()
        if self._publisher is None or position is None or self._publisher.finished() >= position:
            return
        results = self._store.results()
        if results is not None:
            silent = {one.name for one in self._derivations if not one.bus}
            self._publisher.publish(position, lambda: _without(results, silent))

    def _slices(self, samples: DataFrame, from_ns: int, rows_max: int) -> list[DataFrame]:
        """The samples that can matter from a time on, in ranges of offsets."""
        reach_ns = max(one.rule.hold_ns + one.rule.ahead_ns for one in self._derivations)
        mine = samples.where(F.col("parameter").isin(list(self.inputs)))
        since = F.when(F.col("receive_ns") >= from_ns - reach_ns, F.col("offset"))
        bounds = mine.agg(F.min(since), F.max("offset"), F.count("*")).first()
        if bounds is None or bounds[0] is None:
            return []
        first, last, count = bounds
        parts = max(1, -(-int(count) // rows_max))
        width = max(1, -(-(last + 1 - first) // parts))
        return [
            mine.where((F.col("offset") >= begin) & (F.col("offset") < begin + width))
            for begin in range(first, last + 1, width)
        ]


def _final_ns(states: pa.Table, derivations: Sequence[Derivation]) -> dict[int, int]:
    """The time before which all values are computed, by the number of the derivation."""
    newest = states.filter(pc.equal(states.column("input"), NEWEST))
    return {
        row["derivation"]: row["source_ns"] - derivations[row["derivation"]].rule.late_ns
        for row in newest.select(["derivation", "source_ns"]).to_pylist()
    }


def _without(samples: pa.Table, names: set[str]) -> pa.Table:
    if not names:
        return samples
    column = samples.column("parameter").cast(pa.string())
    return samples.filter(pc.invert(pc.is_in(column, pa.array(sorted(names)))))
