"""The job `limits`: the driver's side, with the state of all limits between batches.

The events of a batch are committed first, and the state of the limits from time to time. A run
that was killed continues from the state, meets some samples again, and drops the events that the
table has: judging does not depend on where a batch begins. Must never import pyspark.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import PipelineError
from slipring.lake.files import constant, write_file
from slipring.lake.specs import EVENTS, LIMIT_STATE
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.pipeline.limits_section import LimitsSection
from slipring.pipeline.steps.limit_rows import EVENT_SCHEMA, STATE_SCHEMA, judged
from slipring.pipeline.steps.numbers import ints

SECOND_NS = 1_000_000_000

CandidatesOf = Callable[[int, int], pa.Table]
"""Gives the samples of a range of offsets that may begin or end an event."""


class LimitEvents:
    """The events of one journal. Memory: a row of 30 bytes for each limit of each parameter."""

    def __init__(
        self, lake: LakeLocation, journal: str, section: LimitsSection | None = None
    ) -> None:
        self._lake = lake
        self._journal = journal
        self._every_ns = (section or LimitsSection()).state_every
        self._events = LakeTable.open(lake, EVENTS)
        self._states = LakeTable.open(lake, LIMIT_STATE)
        self._app = app_id(journal)
        self._recorded = self._events.committed(self._app)
        self._committed = self._states.committed(self._app)
        self._committed_s = time.monotonic()
        self._applied = self._committed
        self._state = self._read_state()

    def position(self) -> int | None:
        """The offset up to which the state is in the lake; None if there is none."""
        return self._committed

    def rows_written(self) -> dict[str, int]:
        """Events that were committed."""
        return {EVENTS.name: self._events.rows_written}

    def write(self, candidates_of: CandidatesOf, rules: pa.Table, start: int, end: int) -> pa.Table:
        """Judge the offsets [start, end); returns the new events, which are in the lake then."""
        if self._applied is not None and start > self._applied:
            raise PipelineError(
                f"limits were judged up to offset {self._applied} of journal {self._journal}, but "
                f"the next batch begins at {start}; begin where they end"
            )
        begin = max(start, self._applied or start)
        if begin >= end:
            return EVENT_SCHEMA.empty_table()
        samples = candidates_of(begin, end)
        # Partitions of a batch come in their order, but nothing promises that.
        samples = samples.take(pa.array(np.argsort(ints(samples, "offset"), kind="stable")))
        found = judged(samples, rules, self._state)
        new = found.events
        if self._recorded is not None:
            new = new.filter(pc.greater_equal(new.column("offset"), self._recorded))
        self._record(new, end)
        self._state, self._applied = found.state, end
        if (time.monotonic() - self._committed_s) * SECOND_NS >= self._every_ns:
            self.finish()
        return new

    def finish(self) -> None:
        """Write the state, in the place of the one before."""
        if self._applied is None or self._applied == self._committed:
            return
        rows = self._with_journal(self._state)
        files = write_file(self._lake, LIMIT_STATE, rows.combine_chunks().to_batches())
        old = [file.path for file in self._state_files()]
        self._states.commit(
            files, {self._app: self._applied}, old, after={self._app: self._committed}
        )
        self._committed, self._committed_s = self._applied, time.monotonic()

    def _record(self, events: pa.Table, end: int) -> None:
        if not events.num_rows:
            return
        rows = self._with_journal(events).combine_chunks()
        files = write_file(self._lake, EVENTS, rows.to_batches())
        self._events.commit(files, {self._app: end}, after={self._app: self._recorded})
        self._recorded = end

    def _with_journal(self, rows: pa.Table) -> pa.Table:
        return rows.append_column("journal", constant(self._journal, rows.num_rows))

    def _state_files(self) -> list[Any]:
        return [file for file in self._states.files() if file.least["journal"] == self._journal]

    def _read_state(self) -> pa.Table:
        rows = self._states.delta.to_pyarrow_table(filters=[("journal", "=", self._journal)])
        return rows.select(STATE_SCHEMA.names).cast(STATE_SCHEMA)
