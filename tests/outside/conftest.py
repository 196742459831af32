"""The outside tests as processes: all begin with the first that is asked for, a few at a time."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.outside.suite_lists import ROOT, SUITES, SuiteList
from tests.outside.unhurried import IN_SECONDS

TIMEOUT_S = 600
"""For one test as a process, from its begin; whoever asks for it waits a little longer."""
AT_ONCE = 8
"""Most of a test is waiting for what must not come."""

SLOW_FIRST = {"03-pattern-matching.py", "test_subscribe_options", *IN_SECONDS}

Ended = subprocess.CompletedProcess[str]


class Runs:
    """Each test of both suites by its name, running or done."""

    def __init__(self, pool: ThreadPoolExecutor, scratch: Path) -> None:
        self.scratch = scratch
        suites = {"mosquitto": SUITES / "mosquitto" / "test", "paho": SUITES / "paho"}
        tests = [(name, test) for name in suites for test in SuiteList.read(name).run]
        tests.sort(key=lambda one: one[1] not in SLOW_FIRST)
        self.ended: dict[str, Future[Ended]] = {
            test: pool.submit(self._run, f"tests.outside.{name}_run", suites[name], test)
            for name, test in tests
        }

    def _run(self, program: str, folder: Path, test: str) -> Ended:
        scratch = self.scratch / test
        scratch.mkdir()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OUTSIDE_SCRATCH": str(scratch)}
        return subprocess.run(
            [sys.executable, "-m", program, str(folder), test],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def outcome(self, test: str) -> str:
        """What the test said if it failed; nothing if it passed."""
        ended = self.ended[test].result()
        return f"status {ended.returncode}\n{ended.stdout}" if ended.returncode else ""


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield Runs(pool, tmp_path_factory.mktemp("outside"))
        pool.shutdown(cancel_futures=True)
