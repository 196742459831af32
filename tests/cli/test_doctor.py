"""`slipring doctor`: what it finds, that it never hangs, and that it shows no secret."""

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from slipring import sync
from slipring.cli.doctor_finding import Check, State, ok, run_checks
from tests.cli.commands import publish, slipring
from tests.running_broker import RunningBroker

SECRET = "geheim-7"


def looked(*arguments: str | Path, code: int) -> dict[str, dict[str, Any]]:
    """The findings by name; those that share a name are the last one."""
    lines = slipring("doctor", "--json", *arguments, code=code).stdout.splitlines()
    return {one["name"]: one for one in map(json.loads, lines)}


def test_a_broker_that_is_well_has_no_fault(shared_broker: RunningBroker, tmp_path: Path) -> None:
    publish(shared_broker, "a")
    console = shared_broker.console.removeprefix("http://")
    config = tmp_path / "broker.toml"
    config.write_text(
        f'data = "{shared_broker.data}"\n[console]\nlisten = "{console}"\n'
        f'[mqtt]\nlisten = "{shared_broker.host}:{shared_broker.port}"\n'
    )
    found = looked("--config", config, "--url", shared_broker.url, code=0)
    assert not [one for one in found.values() if one["state"] == State.WRONG]
    owner = f"in use by slipring (process {shared_broker.process.pid})"
    assert found[f"port {shared_broker.port}"]["said"] == owner
    assert found["broker"]["said"].startswith(f"{shared_broker.url} answers in ")
    assert "broker's clock" in found
    assert "its end is whole: " in found["journal"]["said"]
    assert {"python", "slipring", "java", "open files", "memory", "clock", "disk sync"} <= set(
        found
    )
    assert all(one["remedy"] for one in found.values() if one["state"] != State.OK)


def test_what_hangs_is_told_and_hangs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexec sleep 1000\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"mqtt://127.0.0.1:{silent.getsockname()[1]}"
        found = looked("--url", url, "--data", tmp_path / "data", code=1)
    assert found["broker"]["state"] == State.WRONG
    assert "does not end" in found["java"]["said"]


def test_a_check_that_hangs_or_fails_hides_no_other() -> None:
    released = threading.Event()

    def hang() -> list[Any]:
        released.wait()
        return []

    def fail() -> list[Any]:
        raise ZeroDivisionError

    checks: dict[str, Check] = {
        "stuck": hang,
        "broken": fail,
        "fine": lambda: [ok("fine", "it is")],
    }
    found = run_checks(checks, 0.2)
    released.set()
    assert [(one.name, one.state) for one in found] == [
        ("stuck", State.WRONG),
        ("broken", State.WRONG),
        ("fine", State.OK),
    ]
    assert "no result after 0.2 s" in found[0].said
    assert "ZeroDivisionError" in found[1].said


def test_no_secret_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPRING_PASSWORD", SECRET)
    monkeypatch.setenv("SLIPRING_USER", "anna")
    secret = tmp_path / "token"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    (tmp_path / "broker.toml").write_text(f'[mqtt]\nlisten = "{SECRET}"\n')
    url = f"mqtt://anna:{SECRET}@127.0.0.1:1"
    for more in ((), ("--json",)):
        done = slipring(
            *("doctor", "--data", tmp_path, "--token-file", secret, "--url", url, *more), code=1
        )
        assert SECRET not in done.stdout + done.stderr
        assert f"chmod 600 {secret}" in done.stdout


def test_a_mistake_in_the_config_is_wrong(tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    config.write_text("[mqtt]\nlisen = 1\n")
    for mode, words in ((0o600, "lisen"), (0o666, "chmod o-w")):
        config.chmod(mode)
        found = looked("--config", config, "--data", tmp_path, code=1)
        assert found["config"]["state"] == State.WRONG
        assert words in found["config"]["said"]


def test_damage_in_the_last_segment_is_wrong(broker: RunningBroker) -> None:
    with sync.connect(broker.url) as bus:
        for number in range(20):
            bus.publish("a", number, qos=1)  # a batch of the journal for each
    broker.stop()
    last = min((broker.data / "journal").glob("*.seg"))  # a later one has no message yet
    content = bytearray(last.read_bytes())
    content[len(content.rstrip(b"\0")) // 2] ^= 1
    last.write_bytes(content)
    found = looked("--data", broker.data, code=1)
    assert found["journal"]["state"] == State.WRONG
    assert "slipring journal check" in found["journal"]["remedy"]


def test_people_see_a_line_for_each_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPRING_URL", "mqtt://127.0.0.1:1")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        config = tmp_path / "broker.toml"
        config.write_text(f'[mqtt]\nlisten = "127.0.0.1:{port}"\n')
        shown = slipring("doctor", "--data", tmp_path, "--config", config, code=1).stdout
    assert f"port {port}" in shown
    assert "in use by " in shown
    assert "\n       " in shown, "a remedy has a line of its own"
    assert "wrong  broker" in shown
