"""`slipring serve`: runs one broker and its console, from the ready line to the clean end."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from slipring.cli.log import log_to_stderr
from slipring.console import ConsoleServer
from slipring.control import Broker, Config, load_config
from slipring.control.listener import MQTT
from slipring.control.memory import share_free_memory
from slipring.control.systemd import tell_reloading, tell_systemd
from slipring.discovery.endpoint import Endpoint
from slipring.errors import SlipringError
from slipring.native import forbid_core_dumps

log: logging.Logger = logging.getLogger("slipring.serve")


Read: TypeAlias = Callable[[], Config]
"""Reads the configuration again."""


def run_serve(
    file: Path | None, *, mqtt: str | None, console: str | None, data: Path | None
) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    read = partial(load_config, file, mqtt__listen=mqtt, console__listen=console, data=data)
    config = read()
    _guard_memory(config)
    share_free_memory()  # before the thread of the log has memory of its own
    log_to_stderr(config.log.level, config.log.format)
    asyncio.run(_serve(config, partial(read, again=True) if file else None))


async def _serve(config: Config, read: Read | None) -> None:
    loop, stop, told = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _stop, stop)
    if read:
        loop.add_signal_handler(signal.SIGHUP, told.set)
    elif signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as `nohup` sets it
        loop.add_signal_handler(signal.SIGHUP, stop.set)
    broker = Broker(config)
    broker.on_config = _guard_memory
    # What the start made stays. Without this, each full collection of garbage looks at it again:
    # with 100,000 rules that stops Python, and with it the console, for 0.2 s.
    gc.freeze()
    try:
        console = _console(broker)
    except SlipringError:
        broker.abandon()
        raise
    if console:
        scheme, _, address = console.url.partition("://")
        broker.console = Endpoint.at("console", scheme, address)
    print(_ready_line(broker, console), flush=True)
    tell_systemd("READY=1", f"STATUS=Serving MQTT at {broker.engine.address}")
    reloading = asyncio.create_task(_reload_when_told(broker, read, told))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(broker.run(stop))
            if console:
                group.create_task(console.serve(stop))
    except* SlipringError as failed:
        raise failed.exceptions[0] from None
    finally:
        reloading.cancel()


def _stop(stop: asyncio.Event) -> None:
    stop.set()
    tell_systemd("STOPPING=1")


async def _reload_when_told(broker: Broker, read: Read | None, told: asyncio.Event) -> None:
    """Signals that come while the file is read are one."""
    while read:
        await told.wait()
        told.clear()
        tell_reloading()
        await _reload(broker, read)
        tell_systemd("READY=1")


async def _reload(broker: Broker, read: Read) -> None:
    """Read the file again; a file with a mistake changes nothing."""
    try:
        await broker.reload(read)
    except SlipringError as error:
        log.error("config: nothing is changed: %s", error)  # noqa: TRY400 (the mistake is not ours)
        return
    except Exception:
        # Our mistake; but the next signal must be heard: it may take a right back.
        log.exception("config: it is not certain what has changed")
        return
    log_to_stderr(broker.config.log.level, broker.config.log.format)


def _guard_memory(config: Config) -> None:
    """Where there are users, the process writes no core dump: memory has their passwords."""
    if config.has_users and not config.core_dumps:
        forbid_core_dumps()


def _ready_line(broker: Broker, console: ConsoleServer | None) -> str:
    """The line that tells scripts where to connect; `mqtt` is the first listener."""
    named = zip(broker.config.listeners, broker.engine.addresses, strict=True)
    further = [f"{one.name}={address}" for one, address in named if one.name != MQTT]
    url = console.url if console else "off"
    return " ".join([f"slipring ready mqtt={broker.engine.address} console={url}", *further])


def _console(broker: Broker) -> ConsoleServer | None:
    listen = broker.config.console.listen
    return None if listen == "off" else ConsoleServer(broker, listen)
