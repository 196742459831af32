"""A lake that is open for reading: its tables, SQL over them, and samples by filter and time.

Never writes. DataFusion, which is part of delta-rs, reads: by the log it skips files, by Parquet's
statistics row groups and pages (decision 0074).
"""

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa

from slipring.errors import LakeError
from slipring.lake.catalogue import table_names
from slipring.lake.choice import ParameterChoice, TimeSpan, to_time
from slipring.lake.resolution import Every, choose_every
from slipring.lake.result import LakeResult, read_rows
from slipring.lake.snapshot import TableSnapshot, TableStatus
from slipring.lake.sql import named_tables, run_sql
from slipring.lake.storage import LakeLocation


class Lake:
    """The tables at a location, as they are now or as they were at a time."""

    def __init__(self, location: LakeLocation, as_of: datetime | None = None) -> None:
        self.location = location
        self.as_of = as_of

    def names(self) -> list[str]:
        """The names of all tables; raises LakeError if there is no lake."""
        try:
            return table_names(self.location)
        except (FileNotFoundError, NotADirectoryError):
            raise LakeError(
                f"there is no lake in {self.location.uri}; slipring pipeline run makes it"
            ) from None

    def tables(self) -> list[TableStatus]:
        """Every table in figures, by its log; no data is read."""
        return [self.table(name).status() for name in self.names()]

    def table(
        self, name: str, version: int | None = None, as_of: datetime | None = None
    ) -> TableSnapshot:
        """A table now, in a version, or as it was at a time; LakeError if it is not there."""
        if version is not None and as_of is not None:
            raise LakeError("give a version or a time, not both")
        moment = None if version is not None else as_of or self.as_of
        return TableSnapshot.open(self.location, name, version, moment, self.names)

    def query(self, sql: str) -> pa.Table:
        """Run one SELECT over the tables; they have the names that `names` lists."""
        return self.stream(sql).read_all()

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """The same, batch by batch."""
        names = self.names()
        wanted = named_tables(sql, names)
        return run_sql(sql, [self.table(name) for name in wanted], names)

    def parameters(self, filters: str | Sequence[str] = "#") -> list[str]:
        """The names of parameters that match, in order."""
        return ParameterChoice.of(filters).names_in(self)

    def read(
        self,
        filters: str | Sequence[str],
        start: datetime | str | None = None,
        end: datetime | str | None = None,
        every: Every | None = "auto",
        columns: Sequence[str] | None = None,
    ) -> LakeResult:
        """Samples of the parameters that match MQTT filters, measured in [start, end).

        `every` says in which detail: `raw` is every sample; `1s`, `1m` and `1h` have a row for each
        window; `auto` chooses the finest of them that has at most 2,000 rows for a parameter.
        A time without a zone is UTC.
        """
        choice = ParameterChoice.of(filters)
        span = TimeSpan(to_time(start), to_time(end))
        condition = choice.condition(self)
        if every not in (None, "auto"):
            return read_rows(self, every, condition, span, columns)
        chosen = choose_every(self, condition, span)
        rows = read_rows(self, chosen.every, condition, span, columns)
        if len(rows) == 0 and chosen.is_only_rolled_up(rows.every):
            # Retention has removed the samples, and has kept their rollups.
            return read_rows(self, "1s", condition, span, columns)
        return rows
