"""Eclipse Paho's MQTT 5 tests, each against Slipring. `paho.toml` lists them."""

import pytest

from tests.outside.conftest import TIMEOUT_S, Runs
from tests.outside.paho_run import names
from tests.outside.suite_lists import SUITES, SuiteList

LISTED = SuiteList.read("paho")

pytestmark = pytest.mark.timeout(TIMEOUT_S + 60)


@pytest.mark.parametrize("test", LISTED.run)
def test_slipring_passes(test: str, runs: Runs) -> None:
    assert runs.outcome(test) == ""


def test_every_test_of_the_suite_is_listed() -> None:
    assert LISTED.problems(set(names(SUITES / "paho"))) == []
