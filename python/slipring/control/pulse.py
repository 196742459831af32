"""Whether the engine answers. Asked at every beat; a question never waits for its answer."""

import asyncio
from typing import Protocol

from slipring.control.health import Trouble, silent

BUSY_S = 0.2
"""After so long without an answer nothing is asked of the engine that could wait for its locks."""
LOOK_S = 0.05
"""How often it is asked again meanwhile."""


class Asked(Protocol):
    """What is asked: the engine."""

    def silence_s(self) -> float:
        """How many seconds a question has had no answer; 0 while the engine answers."""
        ...


class Pulse:
    """Knows how long the engine has not answered, and tells when that begins and ends."""

    def __init__(self, engine: Asked) -> None:
        """Ask this engine."""
        self._engine = engine
        self._is_told = False

    @property
    def is_busy(self) -> bool:
        """Whether who asks the engine for more might have to wait for it."""
        return self._engine.silence_s() > BUSY_S

    @property
    def trouble(self) -> Trouble | None:
        """Why the broker is not ready, if it is because the engine does not answer."""
        return silent(self._engine.silence_s())

    async def answered(self) -> Trouble | None:
        """Wait until the engine answers; where it does not within a second, say so."""
        while self.is_busy:
            if trouble := self.trouble:
                return trouble
            await asyncio.sleep(LOOK_S)
        return None

    def news(self) -> tuple[str, str] | None:
        """Give the kind of an event and its text, when silence has begun or ended."""
        now = self.trouble
        if now and not self._is_told:
            self._is_told = True
            return now.state, f"engine: {now}"
        if self._is_told and not self.is_busy:
            self._is_told = False
            return "answers", "engine: it answers again"
        return None
