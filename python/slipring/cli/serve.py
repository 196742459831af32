"""`slipring serve`: one broker and its console, from the ready line to the clean end."""

import asyncio
import contextlib
import logging
import signal
import time
from pathlib import Path

from slipring.control import Broker, Config, load_config


def run_serve(file: Path | None, *, mqtt: str | None, console: str | None, data: Path | None) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    config = load_config(file, mqtt__listen=mqtt, console__listen=console, data=data)
    _log_to_stderr(config.log.level)
    asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    broker = Broker(config)
    async with contextlib.AsyncExitStack() as stack:
        running = asyncio.create_task(broker.run(stop))
        stack.push_async_callback(_ended, running, stop)
        url = "off"
        if config.console.listen != "off":
            from slipring.console import ConsoleServer

            url = (await stack.enter_async_context(ConsoleServer(broker, config.console.listen))).url
        print(f"slipring ready mqtt={broker.engine.address} console={url}", flush=True)
        await asyncio.wait([running])


async def _ended(running: asyncio.Task[None], stop: asyncio.Event) -> None:
    stop.set()
    await running


def _log_to_stderr(level: str) -> None:
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler])
