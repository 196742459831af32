"""Puts numbered batches of rows on the bus, each once. One connection, made when it is needed.

Before the first message of a batch is sent, all of them are in the log. A process that finds an
unfinished batch there asks the broker's journal which messages arrived, and sends the others.
"""

import asyncio
import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from slipring.client import Bus, Tls, connect
from slipring.errors import (
    ConnectError,
    ConnectionLost,
    JournalDamaged,
    JournalError,
    JournalGap,
    NoAnswer,
    PipelineError,
    Refused,
    SlipringError,
)
from slipring.journal.location import JournalBroker
from slipring.journal.native_messages import to_native
from slipring.model import Parameter
from slipring.native import RemoteJournal
from slipring.publication.arrived import arrived
from slipring.publication.batch_log import BatchHeader, BatchLog, LoggedBatch
from slipring.publication.outgoing import (
    QOS,
    OutgoingMessage,
    RowKind,
    alarm_messages,
    common_topic,
    message_table,
    plain_messages,
)
from slipring.publication.parts import PROPERTY, name_in, part_name
from slipring.publication.sample_frames import FRAME_CONTENT, definitions_of, sample_frames

PATIENCE_S = 60.0
"""How long a batch is tried again while the broker is away."""
RETRY_S = 0.25
AWAY = (ConnectionLost, ConnectError, NoAnswer, JournalError)
"""What another try may heal."""
SEND_MESSAGES = 1_024
"""Messages sent between two steps."""

Step = Callable[[str], None]


@dataclass(frozen=True)
class PublicationTarget:
    """The broker, and what rows become there."""

    broker: JournalBroker
    name: str
    """Names the sink for people, in its client id and in its topic `slipring/sinks/NAME`."""
    kind: RowKind = "samples"
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    topic: str | None = None
    """The topic of frames; the prefix of alarms."""


class BatchPublisher:
    """One sink. A second process with the same folder takes the connection over."""

    def __init__(
        self,
        target: PublicationTarget,
        folder: Path,
        on_step: Step = lambda _step: None,
        *,
        stop: threading.Event | None = None,
    ) -> None:
        """When `stop` is set, it no longer waits for a broker that is away."""
        self._target = target
        self._log = BatchLog(folder)
        self._on_step = on_step
        self._stop = stop or threading.Event()
        self._runner = asyncio.Runner()
        self._bus: Bus | None = None
        self._journal: RemoteJournal | None = None
        self._declared = dict[str, int]()
        self._table = 0
        self.client_id: str = f"slipring-sink-{target.name}-{self._log.identity[:12]}"

    def finished(self) -> int:
        """The number of the last batch that is on the bus as a whole."""
        return self._log.finished()

    def publish(self, number: int, rows: Callable[[], pa.Table]) -> int:
        """Put a batch on the bus unless it is there; how many messages were sent now.

        The rows are asked for only if the log does not have the batch: it may be under way with
        rows that were cut differently. Numbers ascend.
        """
        if number <= self._log.finished():
            return 0
        pending = self._log.pending()
        if pending is not None and pending.header.number > number:
            raise PipelineError(
                f"batch {pending.header.number} of sink {self._target.name} is under way, and "
                f"batch {number} was asked for; give each query a checkpoint of its own"
            )
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self._runner.run(self._publish(number, rows))
            except BaseException as error:
                self._drop()
                is_over = time.monotonic() > deadline_s or self._stop.is_set()
                if is_over or not _is_away(error):
                    raise
                self._stop.wait(RETRY_S)

    def recover(self) -> None:
        """Finish the batch that an earlier process left under way, if there is one."""
        pending = self._log.pending()
        if pending is not None:
            self.publish(pending.header.number, _no_rows)

    def close(self) -> None:
        """End the connection; what was published is acknowledged already."""
        if self._bus is not None:
            bus, self._bus = self._bus, None
            self._runner.run(bus.close())
        self._runner.close()
        self._log.close()

    async def _publish(self, number: int, rows: Callable[[], pa.Table]) -> int:
        sent = 0
        if (pending := self._log.pending()) is not None:
            sent += await self._resume(pending)
        if number > self._log.finished():
            sent += await self._begin(number, rows())
        return sent

    async def _begin(self, number: int, rows: pa.Table) -> int:
        bus = await self._connected()
        journal = self._opened_journal()
        start = await asyncio.to_thread(journal.end_offset)
        messages, definitions = await self._messages(bus, rows)
        header = BatchHeader(
            number,
            journal.identity,
            start,
            {name: one.as_json() for name, one in definitions.items()},
        )
        table = message_table(messages, self._log.identity, number)
        self._on_step("encoded")
        batch = self._log.begin(header, table)
        self._on_step("logged")
        return await self._send(bus, batch.messages, number)

    async def _resume(self, batch: LoggedBatch) -> int:
        """Send what did not arrive. The new connection has ended that of the earlier process."""
        header = batch.header
        bus = await self._connected()
        journal = self._opened_journal(header.journal)
        parameters = {name: Parameter.of_json(one) for name, one in header.parameters.items()}
        await self._declare(bus, parameters)
        self._on_step("fenced")
        barrier = part_name(self._log.identity, header.number, f"barrier-{uuid.uuid4().hex}")
        # Acknowledged, it is in the journal behind everything that the earlier process sent.
        await bus.publish(
            f"slipring/sinks/{self._target.name}", b"", qos=1, properties={PROPERTY: barrier}
        )
        self._on_step("barrier")
        there = await asyncio.to_thread(arrived, journal, header.start, self.client_id, barrier)
        names = map(name_in, batch.messages.column("properties").to_pylist())
        missing = pa.array([name not in there for name in names], pa.bool_())
        self._on_step("compared")
        return await self._send(bus, batch.messages.filter(missing), header.number)

    async def _send(self, bus: Bus, messages: pa.Table, number: int) -> int:
        table = messages.replace_schema_metadata(None).combine_chunks()
        async with bus.publisher(qos=QOS) as publisher:
            # More than one batch beyond 2 GiB of payloads.
            for native in map(to_native, table.to_batches()):
                for start in range(0, len(native), SEND_MESSAGES):
                    end = min(start + SEND_MESSAGES, len(native))
                    await publisher.send_columns(native, start, end)
                    self._on_step("sent")
        self._on_step("acknowledged")
        self._log.finish(number)
        self._on_step("finished")
        return len(table)

    async def _messages(
        self, bus: Bus, rows: pa.Table
    ) -> tuple[list[OutgoingMessage], dict[str, Parameter]]:
        target = self._target
        if not rows.num_rows and target.kind != "samples":
            return [], {}
        if target.kind == "messages":
            return plain_messages(rows), {}
        if target.kind == "alarms":
            return alarm_messages(rows, target.topic or "alarms"), {}
        # The given ones are declared even if they have no sample yet, so that people find them.
        definitions = dict(target.parameters)
        if rows.num_rows:
            definitions |= definitions_of(rows, target.parameters)
        await self._declare(bus, definitions)
        if not rows.num_rows:
            return [], definitions
        frames = sample_frames(rows, definitions, self._declared, self._table)
        topic = target.topic or common_topic(definitions)
        content = (("content_type", FRAME_CONTENT),)
        return [OutgoingMessage(topic, one, properties=content) for one in frames], definitions

    async def _declare(self, bus: Bus, parameters: Mapping[str, Parameter]) -> None:
        new = {name: one for name, one in parameters.items() if name not in self._declared}
        if new:
            declared = await bus.declare("", new)
            self._table = declared.table
            self._declared |= dict(zip(new, declared.indices.tolist(), strict=True))

    async def _connected(self) -> Bus:
        """The connection. A new one ends that of an earlier process, which has the same id."""
        if self._bus is None:
            broker = self._target.broker
            self._declared.clear()
            self._bus = await connect(
                broker.url,
                client_id=self.client_id,
                **broker.credentials.connecting(),
                tls=_tls(broker),
                # A new connection begins with a recovery; a second way back is not needed.
                reconnect_s=0,
            )
        return self._bus

    def _opened_journal(self, identity: str | None = None) -> RemoteJournal:
        if self._journal is None:
            self._journal = self._target.broker.open(identity)
        return self._journal

    def _drop(self) -> None:
        """Forget the connection after a failure: the next call begins as a new process does."""
        bus, self._bus, self._journal = self._bus, None, None
        if bus is not None:
            with contextlib.suppress(SlipringError):
                self._runner.run(bus.close())


def _is_away(error: BaseException) -> bool:
    # A subclass of Refused is the broker's answer, which is the same next time.
    if isinstance(error, JournalGap | JournalDamaged):
        return False
    return isinstance(error, AWAY) or type(error) is Refused


def _tls(broker: JournalBroker) -> Tls | None:
    names = ("ca", "certificate", "key")
    files = {name: Path(found) for name in names if (found := getattr(broker, name)) is not None}
    if not files and broker.server_name is None:
        return None
    return Tls(**files, server_name=broker.server_name)


def _no_rows() -> pa.Table:
    raise PipelineError("the batch is not in the log")
