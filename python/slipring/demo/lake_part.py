"""The demo's pipeline and lake. Without Spark or Java the demo runs without them."""

import asyncio
import contextlib
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.demo.child_process import ChildProcess
from slipring.errors import PipelineError, SlipringError
from slipring.native import JournalReader
from slipring.pipeline.job import require_java, require_packages

if TYPE_CHECKING:
    from slipring.lake.snapshot import TableSnapshot

LOOK_S = 0.25
PATIENCE_LOOKS = 240
"""How often to look at a lake that does not come nearer to the end of the journal."""
SAMPLES = "samples"
CONFIG = f"""\
# What the demo carries into its lake. The journal has the messages, so the lake needs no copy.
[pipeline.archive]
tables = ["{SAMPLES}", "frames"]
"""


class LakePart:
    """Starts the pipeline, and knows how far the lake has come."""

    def __init__(self, data: Path, keep_bytes: int) -> None:
        """The lake keeps its newest `keep_bytes`."""
        self._data = data
        self._keep_bytes = keep_bytes
        self._begin = 0
        """The journal's offset at which this flight begins; before it is that of earlier ones."""
        self.missing: str | None = _missing()
        """Why there is no lake; None if there is one."""

    async def start(self, stack: contextlib.AsyncExitStack) -> list[ChildProcess]:
        """Start the pipeline, before the flight; the stack stops it."""
        self._begin = JournalReader(self._data / "journal").end_offset()
        if self.missing:
            return []
        config = self._data / "pipeline.toml"
        config.write_text(CONFIG, encoding="utf-8")
        options = ("--config", str(config), "--keep-bytes", str(self._keep_bytes))
        arguments = ("pipeline", "run", "--data", str(self._data), *options)
        pipeline = await ChildProcess.start("pipeline", self._data / "pipeline.log", *arguments)
        stack.push_async_callback(pipeline.stop)
        return [pipeline]

    def introduction(self, program: str, journal_bytes: int) -> list[str]:
        """The lines about the lake that the demo prints at the start."""
        if self.missing:
            return [f"  lake      none: {self.missing}"]
        lake = self._data / "lake"
        kept = (
            f"{self._keep_bytes / 1e9:g} GB stay there, {journal_bytes / 1e9:g} GB in the journal"
        )
        where = "WHERE parameter = 'gripen/39-7/engine/egt'"
        select = f"SELECT source_time, value, unit FROM samples {where} ORDER BY 1 DESC LIMIT 5"  # noqa: S608 (for people to type)
        return [
            f"  lake      {lake}: the Delta tables samples and frames, filled through Spark",
            f"            {program} query --lake {lake} --list",
            f'            {program} query --lake {lake} "{select}"',
            f"            {program} plot --lake {lake} gripen/39-7/engine/egt --from -1m",
            f"            the newest {kept}; it may run as long as you like",
        ]

    def summary(self) -> str:
        """How much is in the lake, and how old its newest sample is."""
        if self.missing:
            return "no lake"
        samples = self._samples()
        figures = None if samples is None else samples.status()
        if figures is None or figures.newest is None:
            return "Spark is starting"
        lag_s = time.time() - figures.newest.timestamp()
        return f"{figures.rows:,} in the lake, lag {lag_s:.1f} s"

    def result(self) -> str:
        """How much of this flight is in the lake."""
        samples = None if self.missing else self._samples()
        if samples is None:
            return "no lake"
        arrived, end = self._progress()
        later = f", {end - arrived:,} messages not yet" if arrived < end else ""
        return f"{samples.rows_from(self._begin):,} rows in the lake{later}"

    async def catch_up(self) -> None:
        """Wait until the lake has all that the journal has, as long as it gets more."""
        before, looks = -1, 0
        while not self.missing and looks < PATIENCE_LOOKS:
            arrived, end = await asyncio.to_thread(self._progress)
            if arrived >= end:
                return
            before, looks = arrived, looks + 1 if arrived == before else 0
            await asyncio.sleep(LOOK_S)

    def _samples(self) -> "TableSnapshot | None":
        """The table as it is now; None before the first batch."""
        from slipring import lake

        try:
            return lake.open(self._data / "lake").table(SAMPLES)
        except SlipringError:  # the pipeline has not made it yet
            return None

    def _progress(self) -> tuple[int, int]:
        """The offset up to which the journal is in the lake, and its end."""
        from slipring.lake.status import arrived

        journal = JournalReader(self._data / "journal")
        try:
            found = arrived(self._data / "lake", journal.identity, SAMPLES)
        except PipelineError:  # the first batch has not arrived yet
            found = 0
        return found, journal.end_offset()


def _missing() -> str | None:
    """All that Spark needs and that is not here, each with the command that brings it."""
    told = []
    for require in (partial(require_packages, "pyspark", "deltalake"), require_java):
        try:
            require()
        except PipelineError as error:
            told.append(str(error))
    return "; ".join(told) or None
