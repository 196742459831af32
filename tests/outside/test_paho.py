"""Eclipse Paho's MQTT 5 tests, each against Slipring. `paho.toml` lists them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.outside.suite_lists import ROOT, SUITES, SuiteList

LISTED = SuiteList.read("paho")
TIMEOUT_S = 110


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Each test and how it failed, if it did."""
    scratch: Path = tmp_path_factory.mktemp("paho")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OUTSIDE_SCRATCH": str(scratch)}
    command = [sys.executable, "-m", "tests.outside.paho_run", str(SUITES / "paho")]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
    )
    found: dict[str, str] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("test", LISTED.run)
def test_slipring_passes(test: str, outcomes: dict[str, str]) -> None:
    assert outcomes[test] == ""


def test_every_test_of_the_suite_is_listed(outcomes: dict[str, str]) -> None:
    assert LISTED.problems(set(outcomes)) == []
