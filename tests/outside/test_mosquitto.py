"""Mosquitto's own tests of a broker, each against Slipring. `mosquitto.toml` lists them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.outside.suite_lists import ROOT, SUITES, SuiteList

FOLDER = SUITES / "mosquitto" / "test"
LISTED = SuiteList.read("mosquitto")
SEQUENCES = SuiteList.read("mosquitto_sequences")
SEQUENCE_TEST = "msg_sequence_test.py"
FAILED_SEQUENCE = re.compile(r"^\x1b\[31m(?P<name>.*) failed: (?P<how>.*)\x1b\[0m$", re.MULTILINE)
TIMEOUT_S = 90
AT_ONCE = 6
"""Most of a test is waiting for what must not come."""

Ended = subprocess.CompletedProcess[str]


def run(test: str, scratch: Path) -> Ended:
    scratch.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OUTSIDE_SCRATCH": str(scratch)}
    command = [sys.executable, "-m", "tests.outside.mosquitto_run", str(FOLDER), test]
    return subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Ended]]]:
    """Every test of the list, begun at once and run a few at a time."""
    scratch = tmp_path_factory.mktemp("outside")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {test: pool.submit(run, test, scratch / test) for test in LISTED.run}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("test", [test for test in LISTED.run if test != SEQUENCE_TEST])
def test_slipring_passes(test: str, endings: dict[str, Future[Ended]]) -> None:
    ended = endings[test].result()
    assert ended.returncode == 0, ended.stdout


def test_slipring_answers_every_sequence_of_packets_but_those_left_out(
    endings: dict[str, Future[Ended]],
) -> None:
    said = endings[SEQUENCE_TEST].result().stdout
    assert "tests succeeded" in said, said
    failed = {match["name"]: match["how"] for match in FAILED_SEQUENCE.finditer(said)}
    assert set(failed) == set(SEQUENCES.left_out), failed


def test_every_test_of_the_suite_is_listed() -> None:
    there = {path.name for path in (FOLDER / "broker").glob("[01]*.py")} | {SEQUENCE_TEST}
    assert LISTED.problems({name for name in there if "helper" not in name}) == []
