"""Log servers get every record of the audit as a line of its own room (T10, T13)."""

from pathlib import Path

from tests.audit.users import PASSWORD, USERS
from tests.logs.logged_broker import logged
from tests.raw_mqtt import RawPeer
from tests.running_broker import RunningBroker

HOSTILE = "x\x1b[2J y=1"


def _connect(running: RunningBroker) -> None:
    with RawPeer(running.host, running.port) as peer:
        assert peer.connect(HOSTILE, username="anna", password=PASSWORD).reason == 0


def test_log_servers_get_records_of_the_audit(tmp_path: Path) -> None:
    with logged(tmp_path, USERS, _connect) as receiver:
        lines = [line for line in receiver.seen if line.fields.get("room") == "audit"]
    events = [line.fields["event"] for line in lines]
    assert events[0] == "audit started"
    assert events[-1] == "audit stopped"
    connected = lines[events.index("audit connected")]
    assert connected.fields["client"] == HOSTILE
    assert "user=anna" in connected.text
    assert r'client="x\u001b[2J y=1"' in connected.text
