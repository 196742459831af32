"""The cost of a console that nobody opens."""

import asyncio
import socket
import subprocess
import sys

import httpx

from tests.running_broker import RunningBroker

UNVISITED = """
import asyncio, sys
from types import SimpleNamespace
from slipring.console import ConsoleServer

CONSOLE = SimpleNamespace(certificate=None, quick_look=())
BROKER = SimpleNamespace(config=SimpleNamespace(console=CONSOLE))

async def begin_and_end():
    stop = asyncio.Event()
    serving = asyncio.create_task(ConsoleServer(BROKER, "127.0.0.1:0").serve(stop))
    await asyncio.sleep(0)
    stop.set()
    await serving

asyncio.run(begin_and_end())
print({"uvicorn", "starlette"} & set(sys.modules))
"""


def test_a_console_that_nobody_opens_loads_no_web_framework() -> None:
    command = [sys.executable, "-W", "error", "-c", UNVISITED]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("set()\n", "")


async def test_all_who_come_at_once_are_answered(broker: RunningBroker) -> None:
    async with httpx.AsyncClient(timeout=60) as browser:
        answers = await asyncio.gather(*(browser.get(f"{broker.console}/ready") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}


def test_a_broker_ends_although_its_console_is_only_being_loaded(broker: RunningBroker) -> None:
    host, _, port = broker.console.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60):
        code, errors = broker.stop()
    assert code == 0, errors
    assert "Traceback" not in errors
