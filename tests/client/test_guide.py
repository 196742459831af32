"""The examples of the guides run as they stand."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

import slipring

ROOT = Path(__file__).parents[2]
WAIT_S = 60


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def run(example: str, url: str) -> None:
    code = re.sub(r"(slipring|sync)\.connect\([^)]*\)", rf"\1.connect({url!r})", example)
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, timeout=WAIT_S)
    assert ended.returncode == 0


@pytest.mark.parametrize("example", examples("docs/client.md"))
def test_an_example_runs_as_it_stands(example: str, broker_url: str) -> None:
    run(example, broker_url)


@pytest.mark.parametrize(
    "example",
    examples("docs/parameters.md") + [one for one in examples("README.md") if "spark" not in one],
)
def test_an_example_with_parameters_runs_as_it_stands(example: str, table_url: str) -> None:
    run(example, table_url)


@pytest.mark.parametrize(
    "example", [one for one in examples("docs/requests.md") if "paho" not in one]
)
def test_an_example_with_requests_runs_as_it_stands(example: str, table_url: str) -> None:
    run(example, table_url)


async def test_a_client_of_another_make_serves_as_it_is_written(table_url: str) -> None:
    (example,) = [one for one in examples("docs/requests.md") if "paho" in one]
    code = example.replace("1883", table_url.rpartition(":")[2])
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    try:
        async with slipring.connect(table_url) as bus:
            answer = await bus.request("text/upper", "hello", wait=True, timeout_s=WAIT_S)
            assert (answer.text, answer.content_type) == ("HELLO", "text/plain")
    finally:
        process.terminate()
        await process.wait()


async def test_a_client_of_another_make_selects_as_it_is_written(table_url: str) -> None:
    (example,) = examples("docs/selections.md")
    port = table_url.rpartition(":")[2]
    code = example.replace("1883", port)
    async with slipring.connect(table_url) as bus:
        engine = await bus.declare("gripen/paho/engine", {"rpm": "f64"})
        engine.write({"rpm": 12034.5})
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-u", "-c", code), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(WAIT_S):
                while b"gripen/paho/engine/rpm 12034.5 good" not in await process.stdout.readline():
                    pass
        finally:
            process.terminate()
            await process.wait()


def test_the_guides_have_examples() -> None:
    assert len(examples("docs/client.md")) >= 4
    assert len(examples("docs/parameters.md")) >= 6
    assert len(examples("README.md")) >= 3
    assert len(examples("docs/requests.md")) >= 6
