"""docs/hardening.md, line by line: what must work works, and what must fail fails."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.running_broker import kept_address

PAGE = (Path(__file__).parents[2] / "docs" / "hardening.md").read_text()
BLOCKS = re.findall(r"```(sh|toml)\n(.*?)```", PAGE, re.DOTALL)
PORTS = ("8883", "8443")
PATIENCE_S = 120
REFUSED = re.compile(r"\s+# refused$")


class Operator:
    """A shell that follows the page."""

    def __init__(self, folder: Path, ports: dict[str, str], stack: ExitStack) -> None:
        self.folder = folder
        self.ports = ports
        self.stack = stack
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/bin",
        }

    def local(self, text: str) -> str:
        """The text with free ports, and no other machine that could connect."""
        for port, free in self.ports.items():
            text = text.replace(f":{port}", f":{free}").replace(f"-p {port}", f"-p {free}")
        return text.replace("0.0.0.0:", "127.0.0.1:")

    def type(self, line: str) -> None:
        """Type one line, and look at how it ends."""
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self.environment[name] = value
        elif line.endswith(" &"):
            self.start(line.removesuffix(" &"))
        else:
            self.run(line)
            if line.endswith("cd broker"):
                self.folder /= "broker"

    def run(self, line: str) -> None:
        must_fail = REFUSED.search(line) is not None
        done = subprocess.run(
            ["bash", "-c", f"umask 077; {REFUSED.sub('', self.local(line))}"],
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
            line.split(),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(process.communicate, timeout=PATIENCE_S)
        self.stack.callback(process.send_signal, signal.SIGTERM)
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said.startswith("slipring ready"):
            raise AssertionError(process.communicate(timeout=PATIENCE_S)[1])


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    with ExitStack() as stack:
        addresses = [stack.enter_context(kept_address()) for _ in PORTS]
        free = [address.rpartition(":")[2] for address in addresses]
        yield Operator(tmp_path, dict(zip(PORTS, free, strict=True)), stack)


def follow(operator: Operator) -> None:
    for language, text in BLOCKS:
        if language == "toml":
            (operator.folder / "broker.toml").write_text(operator.local(text))
            continue
        for line in text.splitlines():
            operator.type(line)


def test_every_line_of_the_page_ends_as_it_says(operator: Operator) -> None:
    follow(operator)


def again() -> list[str]:
    """The commands of the table of what to do again, in its order, with their options."""
    table = PAGE.partition("## 9.")[2].partition("## What")[0]
    commands = [
        line for line in re.findall(r"`(slipring [^`]+)`", table) if line != "slipring access"
    ]
    more = " --console https://localhost:8443 --ca ca.pem --password-file olga.password"
    return [f"{line}{more if ' access ' in line else ''}" for line in commands]


def test_what_is_to_be_done_again_can_be_done(operator: Operator) -> None:
    """Also that a command acts on this broker: one that revokes elsewhere would say the same."""
    follow(operator)
    add = "slipring access users add NAME --console https://localhost:8443 --ca ca.pem"
    operator.type(f"{add} --password-file olga.password < anna.password")
    assert len(again()) >= 5
    for line in again():
        operator.type(line)
    assert not (operator.folder / "slipring-data").exists()
    revoked = (operator.folder / "data" / "tokens" / "revoked.json").read_text()
    assert '"NAME"' in revoked


def test_the_page_has_lines_that_must_fail() -> None:
    lines = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    assert sum(REFUSED.search(line) is not None for line in lines) >= 6
