"""A costly answer, kept for a moment however many ask for it."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Cached(Generic[Answer]):
    """Asks when it is called, unless it has a recent answer."""

    def __init__(self, ask: Callable[[], Answer], for_s: float = 1.0) -> None:
        """Ask at most once in `for_s` seconds."""
        self._ask = ask
        self._for_s = for_s
        self._answer: tuple[float, Answer] | None = None

    def __call__(self, now_s: float | None = None) -> Answer:
        """Return the answer; `now_s` is monotonic."""
        now_s = time.monotonic() if now_s is None else now_s
        if self._answer is None or now_s >= self._answer[0] + self._for_s:
            self._answer = (now_s, self._ask())
        return self._answer[1]
