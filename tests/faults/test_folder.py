"""A journal's folder that is taken away, used twice, or open to others (T12)."""

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.trouble import readiness, wait_for_state
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.running_broker import RunningBroker


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RunningBroker]:
    broker = RunningBroker.start(tmp_path / "data")
    yield broker
    if broker.process.poll() is None:
        broker.stop()


def acknowledged(broker: RunningBroker) -> bool:
    """Whether a message at QoS 1 is."""
    with RawPeer(broker.host, broker.port) as peer:
        if peer.connect("publisher").reason:
            return False
        peer.send(V5.publish("folder/x", b"x", qos=1, packet_id=1))
        try:
            answer = peer.packet()
        except AssertionError:
            return False
        return answer.kind is Kind.PUBACK and answer.reason < 0x80


def second_broker(data: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slipring", "serve", "--data", str(data)]
    command += ["--mqtt", "127.0.0.1:0", "--console", "off"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_second_broker_does_not_start_where_the_lock_was_removed(
    broker: RunningBroker, tmp_path: Path
) -> None:
    assert acknowledged(broker)
    (tmp_path / "data" / "journal" / "lock").unlink()
    second = second_broker(tmp_path / "data")
    assert second.returncode != 0
    assert "belongs to a broker that is running" in second.stderr
    wait_for_state(broker, "failed")
    assert not acknowledged(broker)
    assert readiness(broker) == 503


def test_a_folder_that_is_removed_ends_acknowledging_at_once(
    broker: RunningBroker, tmp_path: Path
) -> None:
    assert acknowledged(broker)
    shutil.rmtree(tmp_path / "data" / "journal")
    assert not acknowledged(broker)
    wait_for_state(broker, "failed")
    assert readiness(broker) == 503
    _, errors = broker.stop()
    assert "removed" in errors


def test_folders_and_files_are_for_their_owner_alone(broker: RunningBroker, tmp_path: Path) -> None:
    assert acknowledged(broker)
    broker.stop()
    data = tmp_path / "data"
    for path in (data, *(data / "journal").rglob("*"), data / "journal"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path}: {mode:o}"


def test_a_journal_that_others_could_read_is_narrowed_and_told(tmp_path: Path) -> None:
    data = tmp_path / "data"
    RunningBroker.start(data).stop()
    for folder in (data, data / "journal"):
        folder.chmod(0o755)
    _, errors = RunningBroker.start(data).stop()
    assert stat.S_IMODE((data / "journal").stat().st_mode) == 0o700
    assert "others could read its folder (mode 0755)" in errors
    assert f"others can read {data}" in errors
