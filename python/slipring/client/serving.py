"""Services: requests come in, handlers run as tasks or in threads, their results go out.

The broker keeps count of who is busy. A service takes no more requests than it computes at once.
"""

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slipring.client.connection import ClientConnection
from slipring.client.request_terms import STATUS
from slipring.client.service_request import AnswerValue, Request, ThreadRequest, as_answer
from slipring.errors import ConnectionLost, ServiceFailed, SlipringError
from slipring.model import Answer, Message

Handler = Callable[[Request], Awaitable[AnswerValue]] | Callable[[ThreadRequest], AnswerValue]

CONCURRENCY_MAX = 65_535
BYTES_MAX = 16 << 20
"""Bytes of requests that are taken at once, or one larger request."""
ENDED = "the service has ended"
WAS_CANCELLED = "the handler was cancelled"

log: logging.Logger = logging.getLogger("slipring.client")


class Service:
    """What `Bus.serve` returns: enter it, and it answers until you leave.

    Leaving takes no more requests and finishes those that run; leaving by an exception cancels
    their handlers, and fails them.
    """

    def __init__(
        self,
        connection: ClientConnection,
        topic_filter: str,
        handler: Handler,
        concurrency: int,
        qos: int,
    ) -> None:
        if not 1 <= concurrency <= CONCURRENCY_MAX:
            raise ValueError(f"concurrency is 1 to {CONCURRENCY_MAX}, not {concurrency}")
        self.topic_filter = topic_filter
        self.concurrency = concurrency
        self._connection = connection
        self._native = connection.native
        self._handler: Callable[[Any], Any] = handler
        self._is_async = _is_async(handler)
        self._threads: ThreadPoolExecutor | None = None
        self._free_threads = asyncio.Semaphore(concurrency)
        """A thread may compute on when its request has ended."""
        self._qos = qos
        self._loop = asyncio.get_running_loop()
        self._identity: int | None = None
        self._was_entered = False
        self._is_taking = False
        self._tasks: dict[asyncio.Task[None], Request] = {}
        self._over = asyncio.Event()
        self._idle = asyncio.Event()

    @property
    def running(self) -> int:
        """How many requests it computes at this moment."""
        return len(self._tasks)

    async def __aenter__(self) -> "Service":
        if self._was_entered:
            raise RuntimeError("a service is entered once; call bus.serve() again")
        self._was_entered = True
        await self._connection.cancels.subscribe()
        self._identity = await self._connection.subscribe(
            (self.topic_filter,),
            self._qos,
            self,
            (("slipring-serve", str(self.concurrency)),),
        )
        self._is_taking = True
        self.set()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close(finish=kind is None)

    async def forever(self) -> None:
        """Serves until it is closed or cancelled; raises ConnectionLost, or Refused."""
        async with self:
            await self.ended()

    async def ended(self) -> None:
        """Waits until it is closed elsewhere; raises ConnectionLost, or Refused."""
        await self._over.wait()
        self._check()

    async def close(self, *, finish: bool = True) -> None:
        """Takes no more requests, and finishes those that run or, without `finish`, fails them.

        Closing twice is fine.
        """
        self._is_taking = False
        identity, self._identity = self._identity, None
        if not finish:
            self._cancel_all()
        try:
            if identity is not None:
                await self._connection.retire(identity)
                self._take_rest(identity, finish=finish)
            while finish and self._tasks:
                self._idle.clear()
                await self._idle.wait()
        finally:
            if identity is not None:
                self._take_rest(identity, finish=False)
                self._connection.detach(identity)
            self._cancel_all()
            if self._tasks:
                await asyncio.wait(self._tasks)
            if self._threads is not None:
                self._threads.shutdown(wait=False)
            self._over.set()

    def _cancel_all(self) -> None:
        """Cancels the handlers that run, each once: its clean-up is not interrupted."""
        for task in list(self._tasks):
            if not task.cancelling():
                task.cancel()

    def set(self) -> None:
        """Takes as many requests as there are free places."""
        identity = self._identity
        if identity is None or not self._is_taking:
            return
        if self._connection.end is not None or identity in self._connection.refused:
            self._over.set()
            return
        while (free := self.concurrency - len(self._tasks)) > 0:
            messages = self._taken(identity, free)
            if not messages:
                return
            connection = self._connection.newest()
            for message in messages:
                self._start(message, connection)

    def _check(self) -> None:
        end, identity = self._connection.end, self._identity
        if identity is not None and identity in self._connection.refused:
            raise self._connection.refused[identity]
        if end is not None and end.cause is not None:
            raise self._connection.lost(end.cause)

    def _start(self, message: Message, connection: int) -> None:
        if message.response_topic is None:
            log.debug("a message on %s asks for no answer", message.topic)
            return
        if self._connection.cancels.is_known(message, connection):
            return
        request = Request(message, self._send, self._loop.time)
        task = self._loop.create_task(self._serve(request, message.response_topic))
        self._tasks[task] = request
        task.add_done_callback(self._done)

        def cancel(ended_as: str) -> None:
            if request.ended_as is None:  # a second cancel would interrupt the handler's clean-up
                request.ended_as = ended_as
                task.cancel()

        self._connection.cancels.watch(message.response_topic, connection, cancel)

    def _done(self, task: asyncio.Task[None]) -> None:
        request = self._tasks.pop(task)
        if request.ended_as is None:
            self._connection.cancels.unwatch(request.message.response_topic or "")
        if task.cancelled():
            if request.ended_as is None:
                self._fail_now(request.message, WAS_CANCELLED if self._is_taking else ENDED)
        elif (error := task.exception()) is not None:
            log.warning("cannot answer a request to %s: %s", request.topic, error)
        if not self._tasks:
            self._idle.set()
        self.set()

    async def _serve(self, request: Request, answer_topic: str) -> None:
        answer = await self._answer(request)
        if request.ended_as is None:
            self._connection.cancels.unwatch(answer_topic)
            await self._publish(request, answer)

    async def _answer(self, request: Request) -> Answer:
        """What the handler says; words about its exception with the status `failed`."""
        try:
            return as_answer(await self._call(request))
        except ServiceFailed as failed:
            return _failed(failed.reason)
        except Exception as error:
            log.warning("a handler of %s failed", self.topic_filter, exc_info=True)
            return _failed(str(error) or type(error).__name__)

    async def _call(self, request: Request) -> Any:
        result = self._handler(request) if self._is_async else await self._call_in_thread(request)
        return await result if inspect.isawaitable(result) else result

    async def _call_in_thread(self, request: Request) -> Any:
        """Waits for a thread first: one that is cancelled leaves nothing in the pool's queue."""
        await self._free_threads.acquire()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.concurrency, "slipring-service")
        call = self._threads.submit(_run, self._handler, ThreadRequest(request, self._loop))
        call.add_done_callback(self._free_thread)
        return await asyncio.wrap_future(call)

    def _free_thread(self, _call: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self._free_threads.release)

    async def _send(self, request: Request, part: Answer) -> None:
        if request.ended_as is None:
            await self._publish(request, part)
        await asyncio.sleep(0)  # other tasks get a turn, also beside a handler that never waits

    async def _publish(self, request: Request, answer: Answer) -> None:
        """Sends an answer or a part; fails the request if it cannot be sent as it is."""
        arguments = _arguments(request.message, answer, self._qos)
        try:
            sent = self._native.publish_in_session(*arguments)
            if sent is None:
                await self._connection.send(lambda: self._native.publish_in_session(*arguments))
        except ConnectionLost:
            request.ended_as = "lost"
        except (SlipringError, TypeError, ValueError) as error:
            if answer.is_part:
                raise
            self._fail_now(request.message, f"the answer cannot be sent: {error}")

    def _fail_now(self, request: Message, words: str) -> None:
        """Without waiting: if there is no room, the request ends by its time-out."""
        arguments = _arguments(request, _failed(words), self._qos)
        try:
            if self._native.publish_in_session(*arguments) is None:
                log.warning("no room to say that a request to %s has failed", request.topic)
        except ConnectionLost:
            pass  # the broker fails it by itself
        except SlipringError as error:
            log.warning("cannot say that a request to %s has failed: %s", request.topic, error)

    def _take_rest(self, identity: int, *, finish: bool) -> None:
        """Requests that came before the broker had ended the subscription."""
        while rows := self._taken(identity, CONCURRENCY_MAX):
            connection = self._connection.newest()
            for message in rows:
                if finish:
                    self._start(message, connection)
                elif message.response_topic is not None:
                    self._fail_now(message, ENDED)

    def _taken(self, identity: int, count_max: int) -> list[Message]:
        rows = self._native.take(identity, count_max, BYTES_MAX)
        if rows and self._qos:
            self._native.done(identity, len(rows))
        return [Message(*row) for row in rows]


def _run(handler: Callable[[ThreadRequest], Any], request: ThreadRequest) -> Any:
    """Calls a handler in its thread."""
    try:
        return handler(request)
    except (StopIteration, SystemExit) as error:
        # A future cannot hold the one, and the other would end the loop.
        raise RuntimeError(f"the handler raised {error!r}") from error


def _failed(words: str) -> Answer:
    return Answer(words.encode(errors="backslashreplace"), None, ((STATUS, "failed"),))


def _arguments(
    request: Message, answer: Answer, qos: int
) -> tuple[str, bytes, int, tuple[Any, str | None, None, bytes | None, None]]:
    """What `Client.publish_in_session` takes."""
    assert request.response_topic is not None
    user = ((STATUS, "part"), *answer.properties) if answer.is_part else answer.properties
    details = (user, answer.content_type, None, request.correlation_data, None)
    return request.response_topic, answer.payload, qos, details


def _is_async(handler: Callable[..., Any]) -> bool:
    called = getattr(handler, "__call__", None)  # noqa: B004 (an object may have an async one)
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(called)
