"""An answer that costs something to get: kept for a moment, however many ask."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Remembered(Generic[Answer]):
    """Asks when it is called, unless it has asked just before."""

    def __init__(self, ask: Callable[[], Answer], for_s: float = 1.0) -> None:
        """Ask at most once in so many seconds."""
        self._ask = ask
        self._for_s = for_s
        self._answer: tuple[float, Answer] | None = None

    def __call__(self, now_s: float | None = None) -> Answer:
        """Give the answer; `now_s` is monotonic."""
        now_s = time.monotonic() if now_s is None else now_s
        if self._answer is None or now_s >= self._answer[0] + self._for_s:
            self._answer = (now_s, self._ask())
        return self._answer[1]
