"""Descriptors: a full table of them never fails the journal, and clients do not take the last."""

import errno
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.faults.disk import Disk, built
from tests.faults.trouble import readiness, wait_for_state
from tests.metrics import Metrics
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.running_broker import RunningBroker

CONFIG = "[journal]\nsegment_bytes = 1_048_576\n"
PAYLOAD = bytes(200_000)
"""Some of them fill a segment, so that the next one is opened."""
MESSAGES = 30
QUOTA_EXCEEDED = 0x97
CROWD = 150


@contextmanager
def started(disk: Disk, tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker with small segments on this disk."""
    file = tmp_path / "broker.toml"
    file.write_text(CONFIG)
    broker = RunningBroker.start(disk.folder, "--config", str(file), environment=disk.environment)
    yield broker
    code, errors = broker.stop()
    assert code == 0, errors


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("disk"))


@pytest.fixture
def disk(tmp_path: Path, library: Path) -> Disk:
    return Disk.under(tmp_path / "data", tmp_path, library)


def open_descriptors(process_id: int) -> int:
    return len(list(Path(f"/proc/{process_id}/fd").iterdir()))


@contextmanager
def at_most(process_id: int, most: int) -> Iterator[None]:
    """The process may have so many descriptors, for a while."""
    before = resource.prlimit(process_id, resource.RLIMIT_NOFILE)
    resource.prlimit(process_id, resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process_id, resource.RLIMIT_NOFILE, before)


def publish(peer: RawPeer, count: int) -> list[int]:
    """Publish at QoS 1, one after the other; what each was answered."""
    reasons = []
    for number in range(1, count + 1):
        peer.send(V5.publish("kept/x", PAYLOAD, qos=1, packet_id=number))
        answer = peer.packet()
        assert answer.kind is Kind.PUBACK
        reasons.append(answer.reason)
    return reasons


def accepted(reasons: list[int]) -> int:
    """How many were taken; the others were told that there is no room."""
    assert set(reasons) <= {0x00, 0x10, QUOTA_EXCEEDED}
    return sum(reason < 0x80 for reason in reasons)


def test_the_journal_goes_on_when_there_is_no_descriptor_left(disk: Disk, tmp_path: Path) -> None:
    with started(disk, tmp_path) as broker, RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("publisher").reason == 0
        with at_most(broker.process.pid, open_descriptors(broker.process.pid)):
            assert accepted(publish(peer, MESSAGES)) == MESSAGES
        assert Metrics.of(broker)["slipring_journal_segments"] > 3


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_opens_that_fail_are_tried_again(disk: Disk, tmp_path: Path, code: int) -> None:
    with started(disk, tmp_path) as broker, RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("publisher").reason == 0
        disk.panel.open_errno = code
        peer.send(*[V5.publish("kept/x", PAYLOAD, qos=1, packet_id=n) for n in range(1, 11)])
        wait_for_state(broker, "full")
        assert readiness(broker) == 503
        disk.mend()
        answers = [peer.packet() for _ in range(10)]
        assert {answer.kind for answer in answers} == {Kind.PUBACK}
        wait_for_state(broker, "ok")
        assert accepted(publish(peer, MESSAGES)) == MESSAGES
        assert readiness(broker) == 200


def test_an_open_that_fails_anywhere_fails_nothing_for_good(disk: Disk, tmp_path: Path) -> None:
    """One open after the other fails, as often as a new segment and a snapshot need one."""
    taken = 0
    with started(disk, tmp_path) as broker, RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("publisher").reason == 0
        disk.panel.open_errno = errno.EMFILE
        for ahead in range(1, 9):
            disk.panel.open_at = disk.panel.opens + ahead
            taken += accepted(publish(peer, 8))
        disk.mend()
        wait_for_state(broker, "ok")
        taken += accepted(publish(peer, 8))
        assert Metrics.of(broker)["slipring_journal_next_offset"] >= taken
    with started(disk, tmp_path) as broker:
        assert Metrics.of(broker)["slipring_receipt_kept_messages"] >= taken


def is_let_in(broker: RunningBroker, stack: ExitStack, client_id: str) -> bool:
    """Whether a newcomer gets in; who does stays."""
    try:
        peer = stack.enter_context(RawPeer(broker.host, broker.port))
        return peer.connect(client_id).reason == 0
    except (EOFError, ConnectionError, AssertionError):
        return False


def test_clients_leave_some_for_the_journal_and_the_console(disk: Disk, tmp_path: Path) -> None:
    with (
        started(disk, tmp_path) as broker,
        RawPeer(broker.host, broker.port) as early,
        at_most(broker.process.pid, 200),
        ExitStack() as stack,
    ):
        assert early.connect("early").reason == 0
        refused = sum(not is_let_in(broker, stack, f"crowd-{number}") for number in range(CROWD))
        assert refused >= 50, f"{refused} of {CROWD} were refused"
        assert open_descriptors(broker.process.pid) < 200
        assert Metrics.of(broker).reached("connections") == refused
        assert accepted(publish(early, MESSAGES)) == MESSAGES


@pytest.mark.parametrize(("console_connections", "for_clients"), [(256, 616), (40, 832)])
def test_the_soft_limit_is_raised_and_what_it_allows_is_said(
    tmp_path: Path, console_connections: int, for_clients: int
) -> None:
    """A broker that may have few says how many clients that is, without those of the console."""
    config = tmp_path / "broker.toml"
    config.write_text(f"[console]\nconnections = {console_connections}\n")
    command = ["sh", "-c", 'ulimit -Sn 256; ulimit -Hn 1000; exec "$@"', "few", sys.executable]
    command += ["-m", "slipring", "serve", "--data", str(tmp_path / "data")]
    command += ["--mqtt", "127.0.0.1:0", "--console", "off", "--config", str(config)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        ready = process.stdout.readline()
        allowed = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        process.terminate()
        _, errors = process.communicate()
    assert ready.startswith("slipring ready")
    assert allowed == (1_000, 1_000)
    told = f"limits.connections is 10,000, but there are only {for_clients} for clients"
    assert told in errors
