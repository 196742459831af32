"""The names of a wide file's columns: which is the time, which are parameters. Pure."""

from collections import Counter
from collections.abc import Sequence

from slipring.errors import RecordingError
from slipring.recording.history.shape.file_schema import EARLIER_NAME, QUALITY_SUFFIX

TIME_NAMES = ("time", "timestamp", "datetime", "date")
"""The column of times has one of these names, in any case, unless --time-column names it."""
NAMES_TOLD_MAX = 8


class WideHeader:
    """Checked: each column has a name of its own, and each quality belongs to a parameter."""

    def __init__(self, file: str, names: Sequence[str], time_column: str | None) -> None:
        self.names: list[str] = list(names)
        self._file = file
        self.time: str = self._time(time_column)
        self._check()
        values = [name for name in self.names if name != self.time and QUALITY_SUFFIX not in name]
        self.columns: list[str] = [name for name in values if not EARLIER_NAME.fullmatch(name)]
        self.earlier: list[str] = [name for name in values if EARLIER_NAME.fullmatch(name)]
        qualities = [name + QUALITY_SUFFIX for name in self.columns]
        self.qualities: list[str] = [name for name in qualities if name in self.names]
        known = {name + QUALITY_SUFFIX for name in values}
        for name in self.names:
            if QUALITY_SUFFIX in name and name not in known:
                raise RecordingError(
                    f"{file}: {name!r} has qualities of a column that is not there"
                )
        if not self.columns:
            raise RecordingError(f"{file} has no column beside the time")

    def _time(self, given: str | None) -> str:
        if given is not None and given in self.names:
            return given
        found = [name for one in TIME_NAMES for name in self.names if name.strip().lower() == one]
        if given is None and found:
            return found[0]
        told = ", ".join(map(repr, self.names[:NAMES_TOLD_MAX]))
        more = f" and {len(self.names) - NAMES_TOLD_MAX:,} more" * (
            len(self.names) > NAMES_TOLD_MAX
        )
        raise RecordingError(
            f"{self._file} has no column {given or TIME_NAMES[0]!r} for the times: its columns are "
            f"{told}{more}; name it with --time-column"
        )

    def _check(self) -> None:
        for name, count in Counter(self.names).items():
            if not name:
                raise RecordingError(f"{self._file}: a column has no name")
            if count > 1:
                raise RecordingError(f"{self._file}: {count} columns are called {name!r}")
