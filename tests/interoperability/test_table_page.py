"""The commands of docs/table.md as they stand: any MQTT 5 client uses the table (G1, G3, G7)."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from slipring.native import journal_table
from tests.running_broker import RunningBroker

PAGE = Path(__file__).parents[2] / "docs" / "table.md"
WAIT_S = 60
DECLARE = {"parameters": [{"name": "gripen/39-7/engine/rpm", "type": "f64", "unit": "1/min"}]}


def written(language: str, word: str) -> str:
    """The one block of code on the page with this word."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    (found,) = (block for block in blocks if word in block)
    return str(found)


def typed(broker: RunningBroker, command: str, *more: str) -> subprocess.CompletedProcess[str]:
    tool, *arguments = shlex.split(command)
    at = ["-h", broker.host, "-p", str(broker.port)]
    return subprocess.run(
        [tool, *at, *arguments, *more], check=True, timeout=WAIT_S, capture_output=True, text=True
    )


def ask(broker: RunningBroker, name: str, body: object) -> dict[str, object]:
    """What the page's request is answered, with another name and body."""
    command = shlex.split(written("sh", "mosquitto_rr"))
    command[command.index("-t") + 1] = f"$slipring/table/{name}"
    command[command.index("-m") + 1] = json.dumps(body)
    answer: dict[str, object] = json.loads(typed(broker, shlex.join(command)).stdout)
    return answer


def test_paho_declares_and_mosquitto_finds(broker: RunningBroker) -> None:
    program = written("python", "paho").replace(
        '"localhost", 1883', f'"{broker.host}", {broker.port}'
    )
    declared = subprocess.run(
        [sys.executable, "-c", program], check=True, timeout=WAIT_S, capture_output=True, text=True
    )
    assert "'indices': [0]" in declared.stdout
    found = json.loads(typed(broker, written("sh", "mosquitto_rr")).stdout)
    assert (found["indices"], found["errors"]) == ([0], [])


def test_a_value_that_is_published_as_text_is_a_sample(broker: RunningBroker) -> None:
    ask(broker, "declare", DECLARE)
    publish = written("sh", "mosquitto_pub")
    assert typed(broker, publish).stderr == ""
    values = ask(broker, "values", {"names": ["gripen/39-7/engine/rpm"]})["values"]
    assert isinstance(values, list)
    expected = {"value": 12034.5, "time": 1763000000000000000, "quality": "good"}
    assert {key: values[0][key] for key in expected} == expected
    selected = typed(broker, written("sh", "mosquitto_sub"), "-C", "1", "-W", str(WAIT_S))
    assert json.loads(selected.stdout) == expected
    assert selected.stdout in PAGE.read_text()


@pytest.mark.parametrize(("text", "why"), [("fast", "declared as f64"), ("", "declared as f64")])
def test_text_that_is_no_value_is_refused(broker: RunningBroker, text: str, why: str) -> None:
    ask(broker, "declare", DECLARE)
    refused = typed(broker, written("sh", "mosquitto_pub").replace("12034.5", f"'{text}'"))
    assert "Payload format invalid" in refused.stderr
    assert why in refused.stderr


def test_the_table_comes_back_with_indices_and_values_that_are_stale(tmp_path: Path) -> None:
    broker = RunningBroker.start(tmp_path)
    more = {"parameters": [{"name": "a", "type": "u8"}, *DECLARE["parameters"]]}
    before = ask(broker, "declare", more)
    typed(broker, written("sh", "mosquitto_pub"))
    ask(broker, "remove", {"names": ["a"]})
    assert broker.stop()[0] == 0
    text, _, flaws = journal_table(tmp_path / "journal")
    known = json.loads(text or "")["parameters"]
    assert [(one["name"], one.get("removed", False)) for one in known] == [
        ("a", True),
        ("gripen/39-7/engine/rpm", False),
    ]
    assert flaws == []
    broker = RunningBroker.start(tmp_path)
    try:
        values = ask(broker, "values", {})["values"]
        assert isinstance(values, list)
        shown = [(one["index"], one["value"], one["quality"], one["why"]) for one in values]
        assert shown == [(1, 12034.5, "stale", "restored")]
        after = ask(broker, "declare", more)
        assert (after["indices"], after["table"]) == (before["indices"], before["table"])
    finally:
        assert broker.stop()[0] == 0
