"""docs/operate.md and docs/from-mosquitto.md: each line that a person types works as they say."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.page_operator import Operator
from tests.running_broker import kept_address

DOCS = Path(__file__).parents[2] / "docs"
PORTS = ("1883", "8080")


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    with ExitStack() as stack:
        addresses = [stack.enter_context(kept_address()) for _ in PORTS]
        free = [address.rpartition(":")[2] for address in addresses]
        yield Operator(tmp_path, dict(zip(PORTS, free, strict=True)), stack)


def test_every_line_about_running_a_broker_works(operator: Operator) -> None:
    operator.follow((DOCS / "operate.md").read_text())


def test_every_line_about_leaving_mosquitto_works(operator: Operator) -> None:
    conf = "listener 1883\nallow_anonymous true\npid_file /run/mosquitto.pid\n"
    (operator.folder / "mosquitto.conf").write_text(conf)
    operator.follow((DOCS / "from-mosquitto.md").read_text())


def test_every_alarm_names_a_metric_that_there_is() -> None:
    text = (DOCS / "operate.md").read_text()
    known = set(
        re.findall(r"^\| `(slipring_\w+)", (DOCS / "observing.md").read_text(), re.MULTILINE)
    )
    named = set(re.findall(r"\bslipring_[a-z][a-z_]+", text))
    assert len(named) > 8
    assert named - known == set()
