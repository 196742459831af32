"""Whether the engine answers. Asking never waits for the answer."""

import asyncio
from typing import Protocol

from slipring.control.health import Trouble, silent

BUSY_S = 0.2
"""After so long without an answer, calls that could wait for the engine's locks are avoided."""
LOOK_S = 0.05
"""How often the engine is asked again meanwhile."""


class _PulseSource(Protocol):
    """The part of the engine that is asked."""

    def silence_s(self) -> float:
        """How many seconds a question has had no answer; 0 while the engine answers."""
        ...


class Pulse:
    """Knows how long the engine has been silent, and reports when silence begins and ends."""

    def __init__(self, engine: _PulseSource) -> None:
        """Watch this engine."""
        self._engine = engine
        self._is_reported = False

    @property
    def is_busy(self) -> bool:
        """Whether other calls to the engine might have to wait."""
        return self._engine.silence_s() > BUSY_S

    @property
    def trouble(self) -> Trouble | None:
        """Why the broker is not ready, if the engine does not answer."""
        return silent(self._engine.silence_s())

    async def answered(self) -> Trouble | None:
        """Wait until the engine answers; report it if that takes more than a second."""
        while self.is_busy:
            if trouble := self.trouble:
                return trouble
            await asyncio.sleep(LOOK_S)
        return None

    def news(self) -> tuple[str, str] | None:
        """Return the kind and text of an event when silence has begun or ended."""
        now = self.trouble
        if now and not self._is_reported:
            self._is_reported = True
            return now.state, f"engine: {now}"
        if self._is_reported and not self.is_busy:
            self._is_reported = False
            return "answers", "engine: it answers again"
        return None
