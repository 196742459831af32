"""The parts of one request, to iterate over; the last is the final answer."""

from typing import Self

from slipring.client.asking import Asking, OpenRequest, PartsQueue
from slipring.client.request_terms import RequestTerms
from slipring.errors import RequestEnded
from slipring.model import Answer


class Parts:
    """What `Bus.ask_parts` returns: iterate over it. The request is sent with the first step."""

    def __init__(self, asking: Asking, topic: str, payload: bytes, terms: RequestTerms) -> None:
        self._asking = asking
        self._topic = topic
        self._payload = payload
        self._terms = terms
        self._queue = PartsQueue()
        self._number = b""
        self._open: OpenRequest | None = None
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Answer:
        if self._is_over:
            raise StopAsyncIteration
        try:
            one = self._open or await self._begin()
            while not self._queue.waiting:
                if one.end.done():
                    return self._last(one.end.result())
                self._queue.ready.clear()
                await self._queue.ready.wait()
        except BaseException:
            self.close()
            raise
        return self._queue.take()

    def close(self) -> None:
        """Cancels the request, if it is open; closing twice is fine."""
        self._is_over = True
        if self._open is not None:
            self._asking.cancel(self._number)

    async def aclose(self) -> None:
        """The same, for `contextlib.aclosing`."""
        self.close()

    def __del__(self) -> None:
        # The loop was left early: the service need not go on.
        if self._open is not None and not self._is_over:
            self._asking.cancel_soon(self._number)

    async def _begin(self) -> OpenRequest:
        self._number, self._open = await self._asking.begin(
            self._topic, self._payload, self._terms, parts=self._queue
        )
        return self._open

    def _last(self, end: Answer | RequestEnded) -> Answer:
        self._is_over = True
        if isinstance(end, RequestEnded):
            raise end
        return end
