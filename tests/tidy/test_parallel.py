"""What several processes share out is named as it is, and stays together as it must."""

from pathlib import Path

from tests.parallel import ALONE, LONG, TOGETHER, place, unit

ROOT = Path(__file__).parents[2]


def test_every_place_that_is_named_is_there() -> None:
    named = {*TOGETHER, *ALONE, *LONG} - set(TOGETHER.values())
    assert [one for one in sorted(named) if not (ROOT / one).exists()] == []


def test_tests_of_one_file_or_one_room_that_shares_more_stay_together() -> None:
    assert unit("tests/cli/test_log.py::test_a[x::y]") == unit("tests/cli/test_log.py::test_b")
    assert unit("tests/cli/test_log.py::test_a") != unit("tests/cli/test_status.py::test_a")
    assert unit("tests/spark/test_source.py::test_a") == unit("tests/pipeline/test_run.py::test_b")


def test_tests_that_share_nothing_and_last_go_one_by_one_and_early() -> None:
    one, other = (f"{ALONE[0]}::test_{name}" for name in "ab")
    assert unit(one) != unit(other)
    assert place(one) < place("tests/cli/test_log.py::test_a")
