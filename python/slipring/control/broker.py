"""A broker: the engine with its plan, its events fetched in batches, and its overview."""

import asyncio
import json
import logging
import os
import secrets
import time
from pathlib import Path
from typing import Any

from slipring.control.config import Config
from slipring.control.consumers import known_consumers
from slipring.control.descriptors import tell as tell_descriptors
from slipring.control.discovery import Discovery, places
from slipring.control.events import Told
from slipring.control.folder import make_private, open_to_others
from slipring.control.health import Trouble, trouble
from slipring.control.listener import ListenerSection
from slipring.control.memory import share_free_memory
from slipring.control.overview import WINDOW_S, Overview
from slipring.control.plan import make_plan
from slipring.control.prefixes import PREFIXES_MAX
from slipring.control.pulse import Pulse
from slipring.control.receipt import tell
from slipring.control.reload import reload, tell_applied, tell_waiting
from slipring.control.remembered import Remembered
from slipring.control.streams import STREAMS_SHOWN
from slipring.discovery.announcement import Announcement
from slipring.discovery.place import Place
from slipring.errors import EngineError, ListenError, StartError
from slipring.native import Engine, Listener, version

BEAT_S = 0.25
"""How often the control plane fetches what the engine has to tell."""
AWAY_MAX = 200
"""Sessions of clients that are away that are shown."""
OWNERS_MAX = 5
"""Owners of each limit that are shown: those that hold most."""
HOLDERS_MAX = 10
"""Sessions that are shown because most waits for them."""

LEVELS = {name.lower(): level for name, level in logging.getLevelNamesMapping().items()}

log = logging.getLogger("slipring.broker")


class Broker:
    """Starts the engine when made; `run` it until it is told to stop."""

    def __init__(self, config: Config) -> None:
        """Open the journal and listen; StartError says why not."""
        self.config = config
        self._started_s = time.monotonic()
        self.overview = Overview()
        self.beaten = asyncio.Condition()
        folder = _journal_folder(config)
        share_free_memory()
        self.engine = _start(config, folder)
        receipt = self.engine.receipt
        self.id = receipt.identity if receipt else secrets.token_hex(16)
        self._table: int = json.loads(self.engine.ask_table("find", b'{"names": []}'))["table"]
        self.console: Place | None = None
        """Where the page for people is, once there is one."""
        self.discovery = Discovery(config.discovery, self.announce)
        self.away = Remembered(lambda: self.engine.away(AWAY_MAX))
        self.owners = Remembered(lambda: self.engine.owners(OWNERS_MAX))
        self.holders = Remembered(lambda: self.engine.sessions(HOLDERS_MAX)[0])
        self._trouble: Trouble | None = None
        self.pulse = Pulse(self.engine)
        self.consumers = Remembered(lambda: known_consumers(folder))
        if receipt:
            for level, line in tell(receipt):
                log.log(level, "%s", line)
        log.log(*tell_descriptors(*self.engine.descriptors, config.limits.connections))
        if config.allow_anonymous:
            log.warning("allow_anonymous: clients are let in without proving who they are")
        if not config.console.is_private:
            log.warning("console.allow_anonymous: everyone who can connect sees the console")
        for doubt in config.doubts:
            log.warning("config: %s", doubt)

    def reload(self, wanted: Config) -> None:
        """Take over what can change while running; ConfigError where nothing is changed."""
        found = reload(self.config, wanted, journaling=self.engine.receipt is not None)
        self.engine.apply(make_plan(found.config))
        self.config = found.config
        for change in found.applied:
            log.info("config: %s", tell_applied(change))
        for change in found.waiting:
            log.warning("config: %s", tell_waiting(change))
        if not found.applied and not found.waiting:
            log.info("config: read again, nothing has changed")
        for doubt in found.config.doubts if found.applied else ():
            log.warning("config: %s", doubt)

    @property
    def trouble(self) -> Trouble | None:
        """Why QoS 1 and 2 messages are not acknowledged now, or nobody is served. Never waits."""
        if self.pulse.is_busy:
            return self.pulse.trouble or self._trouble
        return trouble(self.engine.status().journal)

    def listener_name(self, index: int) -> str:
        """Give the name of the listener that a client came by."""
        return self.config.listeners[index].name

    def announce(self) -> Announcement:
        """Tell who looks for brokers of this one."""
        return Announcement(
            self.id,
            self.config.name,
            version,
            places(self.config.listeners, self.engine.addresses),
            uptime_s=time.monotonic() - self._started_s,
            table=self._table,
            console=self.console,
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Fetch events and counters at every beat until told to stop; then stop the engine."""
        try:
            await self.discovery.open()
            while not stop.is_set():
                self.beat()
                async with self.beaten:
                    self.beaten.notify_all()
                await _wait(stop, BEAT_S)
        finally:
            await asyncio.gather(asyncio.to_thread(self.engine.stop), self.discovery.close())
            if not self.engine.failure:
                self.beat()

    def beat(self) -> None:
        """Fetch once."""
        events, lost = self.engine.take_events()
        now_ns, now_s = time.time_ns(), time.monotonic()
        for told in self.overview.tell(events, lost, now_ns):
            _log(told)
        if self.engine.failure:
            raise EngineError(f"the engine cannot go on: {self.engine.failure}; start it again")
        if news := self.pulse.news():
            _log(self.overview.note(*news, now_ns))
        if self.pulse.is_busy:
            return  # what follows would wait for it, and the console with it
        status = self.engine.status()
        self._look_after(trouble(status.journal), now_ns)
        self.overview.sample(now_s, status.totals)
        self.overview.sample_table(now_s, status.table)
        self.overview.reach(status.reached, now_ns)
        prefixes = self.overview.prefixes
        if prefixes.at_s is None or now_s >= prefixes.at_s + WINDOW_S:
            prefixes.sample(now_s, self.engine.prefixes(PREFIXES_MAX))
            self.overview.streams.sample(now_s, self._streams())

    def _streams(self) -> list[dict[str, Any]]:
        """The first of them, as the engine tells them."""
        answer = self.engine.ask_streams("list", b'{"count": %d}' % STREAMS_SHOWN)
        streams: list[dict[str, Any]] = json.loads(answer)["streams"]
        return streams

    def _look_after(self, now: Trouble | None, now_ns: int) -> None:
        """Tell when the journal gets into trouble, and when it is out of it."""
        before, self._trouble = self._trouble, now
        if now and (before is None or now.state != before.state):
            _log(self.overview.note(now.state, f"journal: {now}", now_ns))
        elif before and now is None:
            _log(self.overview.note("healed", "journal: there is room again", now_ns))


def _log(told: Told) -> None:
    log.log(LEVELS[told.level], "%s", told.text, extra={"at_ns": told.at_ns, "told": told})


def _start(config: Config, journal: Path | None) -> Engine:
    try:
        return Engine(
            make_plan(config),
            listeners=[_listener(section) for section in config.listeners],
            journal=journal,
            segment_bytes=config.journal.segment_bytes,
            threads=config.threads or _processors_to_take(),
            console_connections=config.console.connections,
        )
    except ListenError as error:
        raise StartError(
            f"{error}; choose another address with --mqtt HOST:PORT or in the config file"
        ) from None


def _processors_to_take() -> int:
    """One is left to the control plane, the console and the system."""
    return max(1, len(os.sched_getaffinity(0)) - 1)


def _listener(section: ListenerSection) -> Listener:
    return Listener(
        section.name,
        section.listen,
        websocket=section.websocket,
        origins=section.origins,
        certificate=section.certificate,
        key=section.key,
        client_ca=section.client_ca,
        client_certificates=section.client_certificates,
    )


def _journal_folder(config: Config) -> Path | None:
    if not config.journal.topics:
        return None
    folder = config.data / "journal"
    try:
        make_private(config.data)
        make_private(folder)
        told = open_to_others(config.data)
    except OSError as error:
        raise StartError(
            f"cannot make the folder {folder}: {error.strerror}; "
            "name one you can write with --data DIR"
        ) from None
    if told is not None:
        log.warning(told)
    return folder


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):  # no task of its own, which every beat would pay for
            await stop.wait()
    except TimeoutError:
        return
