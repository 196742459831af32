"""The flight tutorial as a reader types it: from the demo to a picture, with an alarm (D1)."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running_broker import RunningBroker

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-flight.md").read_text()
BLOCKS = re.findall(r"^```(sh|toml)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
LINES_MAX = 30
COMMAND_S = 600
"""For one line of the page on a busy machine; each takes seconds."""
MQTT = "mqtt://127.0.0.1:1883"


class Reader:
    """A person in an empty folder, who types what the page says; ports are free ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broker: RunningBroker | None = None

    def type(self, line: str) -> str:
        """What a line of the shell prints."""
        words = shlex.split(line)
        if words[0] == "make":
            listen = ["--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0"]
            return self._run(["demo", *words[2].removeprefix("ARGS=").split(), *listen])
        if words[-1] == "&":
            self.broker = RunningBroker.start(self.folder / words[words.index("--data") + 1])
            return ""
        assert words[0] == "slipring"
        if words[1] == "sub":
            words += ["--url", MQTT]
        return self._run(words[1:])

    def _run(self, words: list[str]) -> str:
        if self.broker is not None:
            url = f"mqtt://{self.broker.host}:{self.broker.port}"
            words = [url if word == MQTT else word for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "slipring", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout


def test_the_tutorial_is_short() -> None:
    lines = [line for _, block in BLOCKS for line in block.splitlines() if line]
    assert 10 < len(lines) < LINES_MAX


@pytest.mark.timeout(1_800)
def test_the_tutorial_goes_from_the_demo_to_an_alarm_and_a_picture(tmp_path: Path) -> None:
    reader, printed = Reader(tmp_path), dict[str, str]()
    try:
        for kind, block in BLOCKS:
            if kind == "toml":
                (tmp_path / "flight.toml").write_text(block)
                continue
            for line in block.splitlines():
                printed[line] = reader.type(line)
    finally:
        if reader.broker is not None:
            reader.broker.stop()

    def said(beginning: str) -> str:
        return next(text for line, text in printed.items() if line.startswith(beginning))

    assert re.search(r"done: ([\d,]+) samples published, .* \1 rows in the lake", said("make demo"))
    topic, _, alarm = said("slipring sub").partition(" ")
    assert topic == "alarms/gripen/39-7/engine/egt/high"
    assert json.loads(alarm)["threshold"] == 400
    events = said('slipring query "SELECT state')
    assert "began" in events
    assert "ended" in events
    assert (tmp_path / "engine.png").read_bytes().startswith(b"\x89PNG")
    margin = reader.type(
        'slipring query "SELECT count(*) AS n FROM samples '
        "WHERE parameter = 'gripen/39-7/engine/egt_margin' AND unit = 'Cel'\" --format csv"
    )
    assert int(margin.splitlines()[1]) > 100, "the computed parameter is in the lake"
