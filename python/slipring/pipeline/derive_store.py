"""What the job `derive` keeps: values in the lake's table `derived`, and its state in a folder.

The table says how far the job has come; the state of that offset is in the folder before the table
says so. Must never import pyspark.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import LakeConflict, PipelineError
from slipring.lake.files import WrittenFile, write_file
from slipring.lake.specs import DERIVED
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, TableFileEntry
from slipring.pipeline.derivation import Derivation

REPLACE_ATTEMPTS = 5


def derive_app(journal: str) -> str:
    """The name under which the table records how far the job has come with a journal."""
    return f"slipring/derive/{journal}"


class DeriveStore:
    """The table and the folder of one journal."""

    def __init__(self, lake: LakeLocation, journal: str, folder: Path) -> None:
        self._lake = lake
        self.journal = journal
        self._folder = folder / journal
        self._folder.mkdir(parents=True, exist_ok=True)
        self._table = LakeTable.open(lake, DERIVED)

    def position(self) -> int | None:
        """The offset up to which values are in the table; None if there are none."""
        return self._table.committed(derive_app(self.journal))

    def rows_written(self) -> dict[str, int]:
        """Values that were committed."""
        return {DERIVED.name: self._table.rows_written}

    def states(self, derivations: Sequence[Derivation]) -> pa.Table | None:
        """The states at the position, of derivations that still have the same inputs and times."""
        position = self.position()
        if position is None:
            return None
        file = self._state(position)
        if not file.exists():
            raise PipelineError(
                f"the state of derived parameters at offset {position} is not in {self._folder}: "
                "put the folder back, or begin with a lake whose table derived is empty"
            )
        return _renumbered(_read(file), derivations)

    def results(self) -> pa.Table | None:
        """The values of the last batch, if they are still here: they may not be on the bus."""
        position = self.position()
        file = None if position is None else self._results(position)
        return None if file is None or not file.exists() else _read(file)

    def commit(
        self, end: int, samples: pa.Table, states: pa.Table, derivations: Sequence[Derivation]
    ) -> None:
        """Keep the values and states of the offsets up to `end`."""
        described = {"derivations": json.dumps([_identity(one) for one in derivations])}
        _write(self._state(end), states.replace_schema_metadata(described))
        _write(self._results(end), samples)
        files = self._written(samples)
        self._table.commit(files, {derive_app(self.journal): end})

    def forget_before(self, end: int) -> None:
        """Remove the states and values of other batches."""
        kept = {self._state(end).name, self._results(end).name}
        for file in self._folder.glob("*.arrow"):
            if file.name not in kept:
                file.unlink(missing_ok=True)

    def replace(self, samples: pa.Table, from_ns: int, until: Mapping[str, int]) -> None:
        """Put values in place of those of parameters in [from, until); once or many times.

        `until` has a time for each parameter by name.
        """
        to_ns = max(until.values())
        for attempts_left in reversed(range(REPLACE_ATTEMPTS)):
            self.position()
            files, removed = self._written(samples), list[str]()
            for entry in self._table.files():
                if _may_have(entry, from_ns, to_ns):
                    rest = self._without(entry, from_ns, until)
                    if rest is not None:
                        files += self._written(rest)
                        removed.append(entry.path)
            try:
                self._table.commit(files, {}, removed)
            except LakeConflict:
                if not attempts_left:
                    raise
            else:
                return

    def _without(
        self, entry: TableFileEntry, from_ns: int, until: Mapping[str, int]
    ) -> pa.Table | None:
        """The rows of a file that stay; None if all do."""
        import pyarrow.parquet as pq

        location = self._lake.child(DERIVED.name)
        columns = DERIVED.file_schema.names
        rows = pq.read_table(entry.path, columns=columns, filesystem=location.filesystem())
        times = rows.column("source_ns")
        names = rows.column("parameter").cast(pa.string())
        which = pc.index_in(names, pa.array([*until], pa.string()))
        ends = pc.take(pa.array([*until.values()], pa.int64()), which)
        # Null, and so not within, for another parameter.
        is_within = pc.and_(pc.greater_equal(times, from_ns), pc.less(times, ends))
        is_mine = pc.equal(rows.column("journal").cast(pa.string()), self.journal)
        gone = pc.and_(is_within.fill_null(False), is_mine)
        return rows.filter(pc.invert(gone)) if pc.any(gone).as_py() else None

    def _written(self, samples: pa.Table) -> list[WrittenFile]:
        if not samples.num_rows:
            return []
        return write_file(self._lake, DERIVED, samples.combine_chunks().to_batches())

    def _state(self, end: int) -> Path:
        return self._folder / f"state-{end}.arrow"

    def _results(self, end: int) -> Path:
        return self._folder / f"results-{end}.arrow"


def _may_have(entry: TableFileEntry, from_ns: int, to_ns: int) -> bool:
    least, most = entry.least.get("source_ns"), entry.most.get("source_ns")
    if not isinstance(least, int) or not isinstance(most, int):
        return True
    return least < to_ns and most >= from_ns


def _identity(one: Derivation) -> list[object]:
    """What must be the same so that a state goes on."""
    rule = one.rule
    times = [rule.every_ns, rule.late_ns, rule.hold_ns, rule.ahead_ns]
    return [one.name, list(one.inputs), times]


def _renumbered(states: pa.Table, derivations: Sequence[Derivation]) -> pa.Table:
    before = json.loads(states.schema.metadata[b"derivations"])
    now = [_identity(one) for one in derivations]
    numbers = np.array([now.index(one) if one in now else -1 for one in before] or [-1])
    found = numbers[states.column("derivation").to_numpy()]
    place = states.schema.get_field_index("derivation")
    made = states.replace_schema_metadata(None).set_column(
        place, states.schema.field(place), pa.array(found, pa.int32())
    )
    return made.filter(pa.array(found >= 0))


def _read(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as source:
        return pa.ipc.open_file(source).read_all()


def _write(file: Path, table: pa.Table) -> None:
    """The file appears whole, and is on the disk."""
    beside = file.with_suffix(".new")
    with beside.open("wb") as stream:
        with pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(file)
