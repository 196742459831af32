"""Says once how soon the first rows were in the lake, and how much of that Spark took to start."""

import re
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slipring.pipeline.destination import LakeCommit

SPARK_READY = re.compile(r"Spark is ready after ([\d.]+) s")


class FirstRows:
    """Listens to the steps and commits of a run."""

    def __init__(self) -> None:
        # What this process did before it came here was loading its own code.
        self._began_s = time.monotonic() - time.process_time()
        self._spark = ""
        self._is_told = False

    def step(self, words: str) -> None:
        """A step of the run; one of them is the end of Spark's start."""
        if found := SPARK_READY.match(words):
            self._spark = f", Spark's start {found[1]} s of it"

    def commit(self, batch: "LakeCommit") -> str | None:
        """A commit of the run; at the first one with rows, what to say."""
        if self._is_told or not any(batch.rows.values()):
            return None
        self._is_told = True
        passed_s = time.monotonic() - self._began_s
        return f"first rows in the lake {passed_s:.1f} s after the start{self._spark}"
