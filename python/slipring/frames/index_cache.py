"""A cache of the indices of runs: most frames of a selection have the same parameters."""

import numpy as np

from slipring.frames.arrays import Indices
from slipring.native import NativeRun

INDICES_MAX = 1 << 20
"""Indices that are kept; with more, the cache is emptied."""


class IndexCache:
    """Arrays of indices, by the bytes that encode them in a frame."""

    def __init__(self) -> None:
        self._found: dict[bytes, Indices] = {}
        self._kept = 0

    def indices(self, run: NativeRun) -> Indices:
        """The indices of a run, read-only; the same array as before, while it is cached."""
        found = self._found.get(run.span)
        return self._add(run) if found is None else found

    def _add(self, run: NativeRun) -> Indices:
        made = np.frombuffer(run.indices, np.uint32)
        self._kept += len(made)
        if self._kept > INDICES_MAX:
            self._found.clear()
            self._kept = len(made)
        self._found[run.span] = made
        return made
