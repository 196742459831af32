"""The memory budget as it holds now: it may change without the config file."""

import threading

from slipring.control.memory import give_memory_back
from slipring.native import Engine
from slipring.status.engine import MemoryUse

LOOKS_MAX = 8
"""Polls after a lower budget until memory is given back, if usage has not come down before."""


class BudgetWatch:
    """Notes each budget. After a lower one, gives memory back once what was too much is freed."""

    def __init__(self) -> None:
        self._budget: int | None = None
        self._looks_left = 0

    def see(self, memory: MemoryUse) -> None:
        """Look at the memory; the allocator works in a thread, because it may take a while."""
        before, self._budget = self._budget, memory["budget"]
        if before is not None and memory["budget"] < before:
            self._looks_left = LOOKS_MAX
        elif self._looks_left:
            self._looks_left -= 1
            if memory["bytes"] <= memory["budget"] or not self._looks_left:
                self._looks_left = 0
                trim = threading.Thread(target=give_memory_back, name="slipring-trim", daemon=True)
                trim.start()

    def restored(self, engine: Engine) -> str | None:
        """Say so if a reload has set another budget than the one that held before it."""
        before, budget = self._budget, engine.status()["memory"]["budget"]
        if before is None or before == budget:
            return None
        return f"the memory budget is {budget} now, as the file says; it was {before}"
