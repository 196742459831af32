"""The contract for scripts: the ready line, the clean end, one clear line when it cannot start."""

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.running_broker import RunningBroker


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a broker that is expected not to start."""
    command = [sys.executable, "-m", "slipring", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def refused(result: subprocess.CompletedProcess[str]) -> str:
    """The one line that says why; nothing else was printed."""
    assert result.returncode == 1
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if " INFO " not in line]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("slipring: ")
    return lines[0]


def test_the_ready_line_tells_ports_that_accept_connections(broker: RunningBroker) -> None:
    with socket.create_connection((broker.host, broker.port), timeout=60):
        pass
    with urllib.request.urlopen(f"{broker.console}/", timeout=60) as page:
        assert b"<title>" in page.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_code_0(tmp_path: Path, number: signal.Signals) -> None:
    code, errors = RunningBroker.start(tmp_path / "data").stop(number)
    assert code == 0, errors


def test_the_console_can_be_left_out(tmp_path: Path) -> None:
    running = RunningBroker.start(tmp_path / "data", "--console", "off")
    assert running.console == "off"
    assert running.stop()[0] == 0


def test_a_port_in_use_is_named(broker: RunningBroker, tmp_path: Path) -> None:
    taken = f"{broker.host}:{broker.port}"
    line = refused(serve("--mqtt", taken, "--console", "off", "--data", str(tmp_path / "other")))
    assert taken in line
    assert "--mqtt" in line


def test_a_console_port_in_use_is_named(broker: RunningBroker, tmp_path: Path) -> None:
    taken = broker.console.removeprefix("http://")
    result = serve("--mqtt", "127.0.0.1:0", "--console", taken, "--data", str(tmp_path / "other"))
    line = refused(result)
    assert taken in line
    assert "--console" in line


def test_a_folder_that_another_broker_uses_is_named(broker: RunningBroker) -> None:
    line = refused(serve("--mqtt", "127.0.0.1:0", "--console", "off", "--data", str(broker.data)))
    assert str(broker.data) in line


def test_an_unwritable_folder_is_named() -> None:
    line = refused(serve("--mqtt", "127.0.0.1:0", "--console", "off", "--data", "/proc/slipring"))
    assert "/proc/slipring" in line
    assert "--data" in line


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[mqtt\n", "not valid TOML"),
        ("[mqtt]\nlisten = 1883\n", "mqtt.listen"),
        ("[mqtt]\nport = 1883\n", "mqtt.port"),
        ("[limits]\nconnections = 0\n", "limits.connections"),
        ("[mqtt]\nlisten = '0.0.0.0:1883'\n", "allow_anonymous"),
        ("[journal]\ntopics = ['a/#/b']\n", "a/#/b"),
    ],
)
def test_a_bad_config_is_told_with_its_key(tmp_path: Path, content: str, expected: str) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(content)
    assert expected in refused(serve("--config", str(file), "--data", str(tmp_path / "data")))


def test_a_missing_config_is_named() -> None:
    assert "no-such.toml" in refused(serve("--config", "no-such.toml"))


def test_the_command_line_overrules_the_config_file(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text("[console]\nlisten = '127.0.0.1:1'\n")
    running = RunningBroker.start(tmp_path / "data", "--config", str(file), "--console", "off")
    assert running.stop()[0] == 0


def test_a_second_start_goes_on_with_the_same_journal(tmp_path: Path) -> None:
    data = tmp_path / "data"
    identities = set()
    for _ in range(2):
        _, errors = RunningBroker.start(data, "--console", "off").stop()
        identities.add(errors.split(" INFO journal ")[1].split(":")[0])
    assert len(identities) == 1
