"""The demo's pipeline and lake. Without Spark or Java the demo runs without them."""

import asyncio
import contextlib
from pathlib import Path

from slipring.demo.child_process import ChildProcess
from slipring.errors import PipelineError
from slipring.native import JournalReader
from slipring.pipeline.job import require_java, require_packages

LOOK_S = 0.25
CATCH_UP_LOOKS = 480
"""How often to check, at the end, whether the lake has the last messages."""


class LakePart:
    """Starts the pipeline, and knows how far the lake has come."""

    def __init__(self, data: Path, keep_bytes: int) -> None:
        """The lake keeps its newest `keep_bytes`."""
        self._data = data
        self._keep_bytes = keep_bytes
        self.missing = _missing()
        """Why there is no lake; None if there is one."""

    async def start(self, stack: contextlib.AsyncExitStack) -> list[ChildProcess]:
        """Start the pipeline; the stack stops it."""
        if self.missing:
            return []
        bound = ("--keep-bytes", str(self._keep_bytes))
        arguments = ("pipeline", "run", "--data", str(self._data), *bound)
        pipeline = await ChildProcess.start("pipeline", self._data / "pipeline.log", *arguments)
        stack.push_async_callback(pipeline.stop)
        return [pipeline]

    def introduction(self, journal_bytes: int) -> list[str]:
        """The lines about the lake that the demo prints at the start."""
        if self.missing:
            return [f"  lake      none: {self.missing}"]
        kept = (
            f"{self._keep_bytes / 1e9:g} GB stay there, {journal_bytes / 1e9:g} GB in the journal"
        )
        return [
            f"  lake      {self._data / 'lake' / 'messages'} (a Delta table, filled through Spark)",
            f"            the newest {kept}; it may run as long as you like",
        ]

    def summary(self) -> str:
        """How much is in the lake."""
        if self.missing:
            return "no lake"
        rows = self._rows()
        return f"{rows:,} rows in the lake" if rows else "Spark is starting"

    async def catch_up(self) -> None:
        """Wait until the lake has all that the journal has."""
        for _ in range(0 if self.missing else CATCH_UP_LOOKS):
            if await asyncio.to_thread(self._is_caught_up):
                return
            await asyncio.sleep(LOOK_S)

    def _rows(self) -> int:
        from slipring.lake.status import status

        try:
            return status(self._data / "lake").rows
        except PipelineError:  # the first batch has not arrived yet
            return 0

    def _is_caught_up(self) -> bool:
        from slipring.lake.status import arrived

        journal = JournalReader(self._data / "journal")
        try:
            return arrived(self._data / "lake", journal.identity) >= journal.end_offset()
        except PipelineError:  # the first batch has not arrived yet
            return False


def _missing() -> str | None:
    try:
        require_packages("pyspark", "deltalake")
        require_java()
    except PipelineError as error:
        return str(error)
    return None
