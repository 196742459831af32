"""A person in an empty folder, who saves the files and types the lines of a tutorial.

Ports are free ones; nothing else of a page is changed.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.running_broker import RunningBroker

DOCS = Path(__file__).parents[2] / "docs"
PART = re.compile(r"[Ss]ave this as `([\w.-]+)`|^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE_S = 600
"""For one line of a page on a busy machine; each takes seconds."""
MQTT = "mqtt://127.0.0.1:1883"
DATA = "slipring-data"


class TutorialReader:
    """What a tutorial printed, line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: dict[str, str] = {}
        self._broker: RunningBroker | None = None
        self._programs: list[subprocess.Popen[bytes]] = []

    @property
    def broker(self) -> RunningBroker:
        assert self._broker is not None, "the page starts it first"
        return self._broker

    def follow(self, page: str) -> None:
        """From top to bottom; a block behind `save this as` is a file, the others are typed."""
        file = None
        for name, kind, text in PART.findall((DOCS / page).read_text(encoding="utf-8")):
            if name:
                file = name
            elif file:
                (self.folder / file).write_text(self._local(text))
                file = None
            elif kind == "sh":
                for line in text.splitlines():
                    self.printed[line] = self.type(line)

    def said(self, beginning: str) -> str:
        """What the line printed that begins so."""
        return next(text for line, text in self.printed.items() if line.startswith(beginning))

    def type(self, line: str) -> str:
        if line == "slipring serve &":
            self._broker = RunningBroker.start(self.folder / DATA)
            for file in self.folder.glob("*.*"):
                file.write_text(self._local(file.read_text()))
        elif line.startswith("kill %"):
            self.put_away()
        elif line.endswith(" &"):
            with (self.folder / "printed").open("wb") as out:
                words = line.removesuffix(" &").split()
                program = subprocess.Popen(
                    words, cwd=self.folder, env=self._environment(), stdout=out, stderr=out
                )
            self._programs.append(program)
        else:
            return self._run(line)
        return ""

    def put_away(self) -> None:
        """End what is still running."""
        for program in self._programs:
            program.send_signal(signal.SIGTERM)
            program.wait(LINE_S)
        self._programs.clear()
        if self._broker is not None:
            code, errors = self._broker.stop()
            self._broker = None
            assert code == 0, errors

    def _run(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", f"set -eo pipefail; {self._local(line)}"],
            cwd=self.folder, env=self._environment(), timeout=LINE_S,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        beside = self.folder / "printed"
        told = beside.read_text() if beside.exists() else ""
        assert done.returncode == 0, (line, done.stdout[-2000:], done.stderr[-2000:], told[-2000:])
        return done.stdout

    def _local(self, text: str) -> str:
        return text.replace(MQTT, self._broker.url) if self._broker else text

    def _environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        here = {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
        if self._broker is not None:
            here |= {"SLIPRING_URL": self.broker.url, "SLIPRING_CONSOLE": self.broker.console}
        return os.environ | here
