"""`slipring serve`: one broker and its console, from the ready line to the clean end."""

import asyncio
import signal
from pathlib import Path

from slipring.cli.log import log_to_stderr
from slipring.console import ConsoleServer
from slipring.control import Broker, Config, load_config
from slipring.control.listener import MQTT
from slipring.errors import SlipringError


def run_serve(
    file: Path | None, *, mqtt: str | None, console: str | None, data: Path | None
) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    config = load_config(file, mqtt__listen=mqtt, console__listen=console, data=data)
    log_to_stderr(config.log.level, config.log.format)
    asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    broker = Broker(config)
    try:
        console = _console(broker)
    except SlipringError:
        broker.engine.stop()
        raise
    print(_ready_line(broker, console), flush=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(broker.run(stop))
        if console:
            group.create_task(console.serve(stop))


def _ready_line(broker: Broker, console: ConsoleServer | None) -> str:
    """Tell scripts where to connect; `mqtt` is the first listener, whatever it is named."""
    named = zip(broker.config.listeners, broker.engine.addresses, strict=True)
    further = [f"{one.name}={address}" for one, address in named if one.name != MQTT]
    url = console.url if console else "off"
    return " ".join([f"slipring ready mqtt={broker.engine.address} console={url}", *further])


def _console(broker: Broker) -> ConsoleServer | None:
    listen = broker.config.console.listen
    return None if listen == "off" else ConsoleServer(broker, listen)
