"""`slipring discover`: a row for each broker that answers, or one line that says why not (G4)."""

import json
import subprocess
from pathlib import Path

from tests.cli.commands import command, refused
from tests.discovery.brokers import free_udp_port, start_broker

WAIT_S = 60


def run_until_found(*arguments: str) -> list[str]:
    """The lines that are printed once a broker has answered in time."""
    line = command("discover", *arguments)
    while True:
        ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=WAIT_S)
        if "first" in ended.stdout:
            assert ended.returncode == 0, ended.stderr
            return ended.stdout.splitlines()
        assert "no broker has answered within" in ended.stderr


def test_the_command_prints_what_is_found(tmp_path: Path) -> None:
    port = free_udp_port()
    running = start_broker(tmp_path / "first", port, name="first")
    options = ("--no-mdns", "--timeout", "0.5", "--port", str(port))
    assert run_until_found(*options)[1].split()[:2] == ["first", running.url]
    [line] = run_until_found(*options, "--json", "localhost")
    assert json.loads(line)["url"] == running.url
    running.stop()


def test_the_command_says_that_nobody_has_answered() -> None:
    port = str(free_udp_port())
    told = refused("discover", "--no-mdns", "--timeout", "0.1", "--port", port)
    assert told.startswith("slipring: no broker has answered within 0.1 s; ")


def test_a_host_that_is_not_known_is_one_line() -> None:
    told = refused("discover", "--no-mdns", "--timeout", "0.1", "no.such.host.invalid")
    assert told.startswith("slipring: cannot ask no.such.host.invalid: ")
