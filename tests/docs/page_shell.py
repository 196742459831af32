"""A person with a shell, who types the lines of a page beside a broker with a flying jet.

The pages' addresses are replaced by those of the broker; nothing else of a line is changed.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.terminal import terminal
from tests.running_broker import PATIENCE_S, RunningBroker

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"\s{2,}# .*$")
ENDLESS = re.compile(
    r"\b(?:slipring|mosquitto)(?:_| )sub\b(?!.*(?:--count|-C|-W))|stream read|--follow\b"
)
"""Goes on until Ctrl-C."""
ENDED_BY_CTRL_C = (130, -signal.SIGINT, 0)
STANDS_FOR = {
    "arecord": "head -c 4096 /dev/zero",
    "aplay": "head -c 4 > /dev/null && echo playing && cat > /dev/null",
    "nc": f'exec {sys.executable} -m tests.docs.datagram "$@"',
}
"""Programs that not every machine has."""


def page_blocks(page: str, kind: str = "sh") -> list[str]:
    """The blocks of a page in one language."""
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    return [block for language, block in BLOCK.findall(text) if language == kind]


def page_lines(page: str) -> Iterator[str]:
    """What a person types, without what a comment says of it."""
    for block in page_blocks(page):
        for line in block.splitlines():
            if line.strip():
                yield COMMENT.sub("", line)


@dataclass(frozen=True)
class PageShell:
    """A shell in a folder, with a broker at the addresses that commands take for granted."""

    folder: Path
    broker: RunningBroker
    discovery_port: int

    def prepare(self) -> None:
        """Put what stands for other programs before them on the path."""
        programs = self.folder / "bin"
        programs.mkdir()
        at = f"-h {self.broker.host} -p {self.broker.port}"
        script = dict(STANDS_FOR)
        for name in ("mosquitto_pub", "mosquitto_sub", "mosquitto_rr"):
            script[name] = f'exec /usr/bin/{name} {at} "$@"'
        for name, text in script.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)

    def local(self, line: str) -> str:
        """The line with the addresses of this broker."""
        line = re.sub(r"mqtts?://[a-z0-9.]+(:1883)?(?=[\s\"']|$)", self.broker.url, line)
        line = re.sub(r"-h (?:localhost|broker\.example)( -p 1883)?", f"-h {self.broker.host}"
                      f" -p {self.broker.port}", line)  # fmt: skip
        line = line.replace("http://127.0.0.1:8080", self.broker.console)
        line = line.replace("18830", str(self.discovery_port))
        asking = f"slipring discover --no-mdns --port {self.discovery_port}"
        line = re.sub(r"slipring discover\b", asking, line)
        return line.replace("ground.example", "127.0.0.1")

    def type(self, line: str) -> str:
        """What a line prints; it ends well, or goes on until Ctrl-C if that is what it does."""
        if "--watch" in line:
            return self._watched(line)
        process = self._start(self.local(line).removesuffix(" &"))
        if ENDLESS.search(line):
            return self._interrupted(process, line)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, f"{line}\n{out}\n{err}"
        return out

    def type_until(self, line: str, is_done: Callable[[], object]) -> None:
        """Type a line that prints nothing and goes on; Ctrl-C as soon as it has had its effect."""
        process = self._start(self.local(line))
        is_done()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode in ENDED_BY_CTRL_C, f"{line}\n{err}"

    def _watched(self, line: str) -> str:
        """What fills a terminal until Ctrl-C."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment().items():
                patch.setenv(name, value)
            with terminal(("bash", "-c", f"exec {self.local(line)}"), columns=120) as screen:
                shown = screen.wait_for(rb"gripen/")
                screen.process.send_signal(signal.SIGINT)
                assert screen.end()[0] in ENDED_BY_CTRL_C
        return shown.decode(errors="replace")

    def _interrupted(self, process: "subprocess.Popen[str]", line: str) -> str:
        """Ctrl-C as soon as the line has printed something, here or into a file."""
        assert process.stdout is not None
        into_file = re.search(r">> (\S+)$", line)
        if into_file:
            with subprocess.Popen(
                ["tail", "-F", "-n", "+1", self.folder / into_file[1]],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            ) as follower:  # fmt: skip
                assert follower.stdout is not None
                first = follower.stdout.readline()
                follower.terminate()
        else:
            first = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        rest, err = process.communicate(timeout=PATIENCE_S)
        assert first, f"{line}\n{err}"
        assert process.returncode in ENDED_BY_CTRL_C, f"{line}\n{rest}\n{err}"
        return first + rest

    def _start(self, line: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["bash", "-c", f"set -eo pipefail; {line}"],
            cwd=self.folder, env=self.environment(), start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        own = f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return os.environ | {
            "PATH": own,
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SLIPRING_URL": self.broker.url,
            "SLIPRING_CONSOLE": self.broker.console,
        }
