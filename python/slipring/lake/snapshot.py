"""One version of a table, opened for reading. Never writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from slipring.errors import LakeError
from slipring.lake.specs import TABLES
from slipring.lake.sql import identifier, plain_schema, run_sql, unknown_table
from slipring.lake.storage import LakeLocation

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TableStatus:
    """A table in figures."""

    name: str
    rows: int
    bytes: int
    files: int
    version: int
    newest: datetime | None
    """The newest time that is in it; None if it has none, or no column of time."""


class TableSnapshot:
    """A table in one version."""

    def __init__(self, location: LakeLocation, name: str, delta: DeltaTable) -> None:
        """`location` is that of the table."""
        self.location = location
        self.name = name
        self.delta = delta

    @classmethod
    def open(
        cls,
        lake: LakeLocation,
        name: str,
        version: int | None,
        as_of: datetime | None,
        names: Callable[[], Sequence[str]],
    ) -> "TableSnapshot":
        """Open the newest version, this one, or that of a time; `names` are for an error."""
        location = lake.child(name)
        try:
            delta = DeltaTable(
                location.uri, version=version, storage_options=location.delta_options()
            )
            if as_of is not None:
                delta.load_as_version(as_of if as_of.tzinfo else as_of.replace(tzinfo=UTC))
        except TableNotFoundError:
            raise LakeError(unknown_table(name, names())) from None
        except (DeltaError, ValueError) as error:
            wanted = f"version {version}" if as_of is None else f"version of {as_of}"
            if version is None and as_of is None:
                raise LakeError(f"{location.uri} cannot be opened: {error}") from None
            raise LakeError(
                f"the table {name} has no {wanted}: it is newer, or its log no longer goes back "
                "that far; `slipring query --list` shows the newest versions"
            ) from None
        return cls(location, name, delta)

    @property
    def version(self) -> int:
        return self.delta.version()

    @property
    def schema(self) -> pa.Schema:
        """All columns, with those of the partition."""
        return plain_schema(pa.schema(self.delta.schema().to_arrow()))

    @property
    def partition_by(self) -> list[str]:
        return list(self.delta.metadata().partition_columns)

    def files(self) -> list[tuple[str, dict[str, str]]]:
        """The files of this version, below the table's location, with their partition."""
        values = [self._held.column(f"partition.{name}").to_pylist() for name in self.partition_by]
        paths = self._held.column("path").to_pylist()
        return [
            (
                path,
                {
                    name: str(value[place])
                    for name, value in zip(self.partition_by, values, strict=True)
                },
            )
            for place, path in enumerate(paths)
        ]

    def file_uris(self) -> list[str]:
        """The files of this version."""
        return self.delta.file_uris()

    def to_arrow(self, columns: Sequence[str] | None = None, where: str | None = None) -> pa.Table:
        """Some columns of the rows for which a condition of SQL holds; files are skipped by it."""
        chosen = "*" if columns is None else ", ".join(map(identifier, columns))
        condition = f" WHERE {where}" if where else ""
        sql = f"SELECT {chosen} FROM {identifier(self.name)}{condition}"  # noqa: S608 (only reads)
        return run_sql(sql, [self], [self.name]).read_all()

    def status(self) -> TableStatus:
        """The table in figures, by its log."""
        held = self._held
        bounds = self.time_bounds()
        return TableStatus(
            name=self.name,
            rows=sum(held.column("num_records").to_pylist()),
            bytes=sum(held.column("size_bytes").to_pylist()),
            files=held.num_rows,
            version=self.version,
            newest=bounds[1] if bounds else None,
        )

    def time_bounds(self, column: str | None = None) -> tuple[datetime, datetime] | None:
        """The least and the largest time of a column, by the log; None if it does not say."""
        name = column or (TABLES[self.name].time if self.name in TABLES else "")
        if not name or f"min.{name}" not in self._held.column_names:
            return None
        least, most = (self._held.column(f"{one}.{name}") for one in ("min", "max"))
        if least.null_count == len(least):
            return None
        return _utc(pc.min(_us(least)).as_py()), _utc(pc.max(_us(most)).as_py())

    @cached_property
    def _held(self) -> pa.Table:
        """The files with their statistics."""
        # Not pa.table: it would import pandas, which takes longer than the query.
        return pa.RecordBatchReader.from_stream(self.delta.get_add_actions(flatten=True)).read_all()


def _us(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Microseconds since 1970: for Python's own times, Arrow would import pandas."""
    return times.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())


def _utc(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
