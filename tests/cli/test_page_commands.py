"""The command lines of the pages about requests, priorities and the log run as they stand."""

import asyncio
import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import slipring
from slipring.cli.request_rows import show_life
from slipring.status.requests import RequestStatus
from tests.cli.commands import SLIPRING
from tests.running_broker import PATIENCE_S, RunningBroker

DOCS = Path(__file__).parents[2] / "docs"
KEY = "5f0c7a1e22b90d41"
"""The request that the pages name."""
BY_URL = ("answer", "request", "pub")
BY_CONSOLE = ("requests", "subscribers", "memory", "log")


def commands(page: str) -> list[str]:
    """The lines of a page's shell blocks, without those that show what is printed."""
    blocks = re.findall(r"```(\w*)\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    lines = [line for kind, block in blocks if kind in ("", "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith(("slipring ", "mosquitto_rr "))]


def of(page: str, *names: str) -> list[str]:
    return [line for line in commands(page) if line.split()[1] in names]


def at(broker: RunningBroker, line: str) -> str:
    """The same line for a broker at another address than the usual one."""
    line = re.sub(rf"^slipring ({'|'.join(BY_URL)}) ", rf"slipring \1 --url {broker.url} ", line)
    console = f"--console {broker.console}"
    line = re.sub(rf"^slipring ({'|'.join(BY_CONSOLE)})\b", rf"slipring \1 {console}", line)
    line = re.sub(r"^slipring status\b", f"slipring status {broker.console}", line)
    line = line.replace("mosquitto_rr ", f"mosquitto_rr -h {broker.host} -p {broker.port} ")
    return re.sub(r"^slipring\b", SLIPRING, line)


async def shell(script: str, folder: Path) -> str:
    """What a script prints; each of its lines must succeed."""
    process = await asyncio.create_subprocess_exec(
        *("sh", "-ec", script), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 0, (script, out, err)
    return out.decode()


async def solve(request: slipring.Request) -> str:
    assert request.text == '{"a": 1}\n'
    await request.part("half")
    return "solved"


async def test_a_request_on_the_command_line(shared_broker: RunningBroker, tmp_path: Path) -> None:
    (tmp_path / "problem.json").write_text('{"a": 1}\n')
    lines = of("requests.md", "answer", "request")
    assert len(lines) == 4
    assert lines[0].endswith(" &")
    script = "\n".join(at(shared_broker, line) for line in lines)
    async with slipring.connect(shared_broker.url) as bus, bus.serve("solver/linear", solve):
        printed = await shell(f"{script}\nkill $!", tmp_path)
    assert printed == "HELLO\nsolved\nhalf\nsolved\n"


async def upper(request: slipring.Request) -> str:
    return request.text.upper()


async def test_an_asker_of_another_make(shared_broker: RunningBroker, tmp_path: Path) -> None:
    (line,) = [line for line in commands("requests.md") if line.startswith("mosquitto_rr")]
    async with slipring.connect(shared_broker.url) as bus, bus.serve("text/upper", upper):
        assert await shell(at(shared_broker, line), tmp_path) == "HELLO\n"


async def test_a_message_of_high_priority(shared_broker: RunningBroker, tmp_path: Path) -> None:
    (line,) = commands("priorities.md")
    async with (
        slipring.connect(shared_broker.url) as bus,
        bus.subscribe("plant/#", qos=1) as messages,
    ):
        await shell(at(shared_broker, line), tmp_path)
        message = await anext(messages)
    assert (message.text, message.properties) == ("pump 4 is hot", (("slipring-priority", "high"),))


async def ask_as_the_page_does(broker: RunningBroker) -> str:
    """A request by the clients that the page names; returns its key."""
    async with (
        slipring.connect(broker.url, client_id="gui-1") as gui,
        slipring.connect(broker.url, client_id="solver-3") as solver,
        solver.serve("solver/linear", upper),
    ):
        await gui.request("solver/linear", "x")
    return str(listed(broker, "--topic", "solver/linear")[0]["key"])


def listed(broker: RunningBroker, *conditions: str) -> list[dict[str, Any]]:
    line = [SLIPRING, "requests", "--console", broker.console, "--json", *conditions]
    found = subprocess.run(line, capture_output=True, check=True, timeout=PATIENCE_S)
    requests: list[dict[str, Any]] = json.loads(found.stdout)["requests"]
    return requests


@contextmanager
def followed(line: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that runs until Ctrl-C."""
    with subprocess.Popen(line.split(), stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130


WATCHING = (
    *of("requests.md", "requests", "subscribers", "status"),
    *of("observing.md", "requests", "subscribers", "log"),
)


async def test_watching_on_the_command_line(shared_broker: RunningBroker, tmp_path: Path) -> None:
    key = await ask_as_the_page_does(shared_broker)
    assert len(WATCHING) >= 13
    for line in WATCHING:
        real = at(shared_broker, line.partition("  # ")[0].replace(KEY, key))
        if "--follow" in line:
            with followed(real) as process:
                assert process.stdout is not None
                assert json.loads(process.stdout.readline())["topic"]
            continue
        printed = await shell(real, tmp_path)
        assert printed, line
        if KEY in line:
            assert "delivered to solver-3" in printed


def test_the_life_of_a_request_is_printed_as_the_page_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    asked_ms = 12 * 3_600_000 + 1_004
    life = RequestStatus(
        key=KEY,
        topic="solver/linear",
        state="answer delivered",
        asker="gui-1",
        service="solver-3",
        priority="normal",
        payload_bytes=120,
        asked_ms=asked_ms,
        stored_ms=asked_ms + 0.05,
        delivered_ms=asked_ms + 1_306,
        ended_ms=asked_ms + 1_348,
        times_out_ms=None,
        reason=None,
    )
    show_life({"at_ms": asked_ms, "request": life})
    printed = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
    assert f"$ slipring requests {KEY}\n{printed}```" in (DOCS / "requests.md").read_text()


@pytest.mark.parametrize("line", of("observing.md", "memory"))
async def test_the_memory_budget_on_the_command_line(
    shared_broker: RunningBroker, tmp_path: Path, line: str
) -> None:
    printed = await shell(at(shared_broker, line), tmp_path)
    assert "used" in printed
    assert "512MB" not in line or "of 512.0 MB" in printed
