"""The parameters of runs that came before: a frame of a selection mostly has those of the last."""

import numpy as np

from slipring.frames.arrays import Indices
from slipring.native import NativeRun

INDICES_MAX = 1 << 20
"""Indices that are kept; with more, all are forgotten."""


class Spans:
    """Lists of indices, each made once: by the bytes that say it in a frame."""

    def __init__(self) -> None:
        self._found: dict[bytes, Indices] = {}
        self._kept = 0

    def indices(self, run: NativeRun) -> Indices:
        """The indices of a run; the same array as before, while it is kept. It is read-only."""
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
