"""Every test runs and none sleeps, and the rules that say so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.suite import idle_tests, sleeping_tests
from tests.tidy.tree import Tree


def test_no_test_sleeps(repository: Tree) -> None:
    assert_none(sleeping_tests(repository))


def test_every_test_runs(repository: Tree) -> None:
    assert_none(idle_tests(repository))


@pytest.mark.parametrize("text", ["import time\ntime.sleep(1)\n", "from time import sleep\n"])
def test_a_sleep_in_a_test_is_found(plant: Plant, text: str) -> None:
    assert len(sleeping_tests(plant("tests/test_a.py", text))) == 1


def test_a_sleep_elsewhere_is_left_alone(plant: Plant) -> None:
    assert sleeping_tests(plant("scripts/a.py", "import time\ntime.sleep(1)\n")) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_a.py", "@pytest.mark.skip\ndef test_a(): ...\n"),
        ("tests/test_a.py", "@pytest.mark.skipif(True)\ndef test_a(): ...\n"),
        ("tests/test_a.py", "@pytest.mark.xfail(strict=True)\ndef test_a(): ...\n"),
        ("tests/test_a.py", "def test_a():\n    pytest.skip('no')\n"),
        ("tests/test_a.py", "spark = pytest.importorskip('pyspark')\n"),
        ("crates/wire/src/frame.rs", "#[ignore]\nfn it_walks() {}\n"),
        ("web/test/a.test.ts", "test.skip('walks', () => {});\n"),
        ("web/test/a.test.ts", "test.only('walks', () => {});\n"),
    ],
)
def test_a_test_that_does_not_run_is_found(plant: Plant, path: str, text: str) -> None:
    assert len(idle_tests(plant(path, text))) == 1
