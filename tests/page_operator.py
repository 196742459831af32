"""A person at a shell who follows a page: what must work works, and what must fail fails."""

import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

PATIENCE_S = 120
REFUSED = re.compile(r"\s+# refused$")
TAKEN_FOR_GRANTED = (
    ("pub|sub", "--url mqtt://127.0.0.1:1883"),
    ("memory", "--console http://127.0.0.1:8080"),
    ("status", "http://127.0.0.1:8080"),
)
BLOCK = re.compile(r"```(sh|toml)\n(.*?)```", re.DOTALL)


class Operator:
    """A shell that follows a page."""

    def __init__(self, folder: Path, ports: dict[str, str], stack: ExitStack) -> None:
        self.folder = folder
        self.ports = ports
        self.stack = stack
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/bin",
        }
        self.started: list[subprocess.Popen[str]] = []

    def follow(self, page: str) -> None:
        """Write its config files, and type its lines."""
        for language, text in BLOCK.findall(page):
            if language == "toml":
                (self.folder / "broker.toml").write_text(self.local(text))
                continue
            for line in text.splitlines():
                self.type(line)

    def local(self, text: str) -> str:
        """The text with free ports, and no other machine that could connect."""
        for port, free in self.ports.items():
            text = text.replace(f":{port}", f":{free}").replace(f"-p {port}", f"-p {free}")
        return text.replace("0.0.0.0:", "127.0.0.1:")

    def addressed(self, line: str) -> str:
        """The line with the addresses that commands take for granted, if the page uses those."""
        for words, address in TAKEN_FOR_GRANTED:
            if address.rpartition(":")[2] in self.ports and "--url" not in line:
                line = re.sub(rf"\bslipring ({words})\b", rf"slipring \1 {address}", line)
        return line

    def type(self, line: str) -> None:
        """Type one line, and look at how it ends."""
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self.environment[name] = value
        elif line.endswith(" &"):
            self.start(line.removesuffix(" &"))
        elif line == "kill %1":
            self.end(self.started.pop())
        else:
            self.run(line)
            if line.endswith("cd broker"):
                self.folder /= "broker"

    def run(self, line: str) -> None:
        must_fail = REFUSED.search(line) is not None
        done = subprocess.run(
            ["bash", "-c", f"umask 077; {REFUSED.sub('', self.local(self.addressed(line)))}"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (done.returncode != 0) == must_fail, f"{line}\n{done.stdout}\n{done.stderr}"

    def start(self, line: str) -> None:
        process = subprocess.Popen(
            self.local(line).split(),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        self.stack.callback(process.communicate, timeout=PATIENCE_S)
        self.stack.callback(process.send_signal, signal.SIGTERM)
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said.startswith("slipring ready"):
            raise AssertionError(process.communicate(timeout=PATIENCE_S)[1])

    def end(self, process: "subprocess.Popen[str]") -> None:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, errors
