"""`slipring sessions` and `slipring clients`: who holds what, and who has to go."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.console_answer import overview
from tests.limited_broker import KEPT, Limited, LimitedBroker
from tests.metrics import Metrics
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Will
from tests.running_broker import PATIENCE_S, RunningBroker

ADMINISTRATIVE = 0x98
GREEDY = "127.0.0.2"


def web(source: str | None = None) -> httpx.Client:
    """Who asks the console; the first question makes it load its web server."""
    unshared = httpx.HTTPTransport(
        local_address=source, limits=httpx.Limits(max_keepalive_connections=0)
    )
    return httpx.Client(transport=unshared, timeout=PATIENCE_S)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "slipring", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


def listed(broker: LimitedBroker, what: str, *options: str) -> dict[str, Any]:
    found = command(what, "list", "--json", "--console", broker.running.console, *options)
    assert found.returncode == 0, found.stderr
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def test_sessions_are_listed_with_what_they_hold_the_costliest_first(limited: Limited) -> None:
    broker = limited()
    broker.away("recorder", ("t/#", 1), ("u", 1))
    writer = broker.client("[bold]w\x1b[2J")
    writer.send(V5.publish("t/1", b"x" * 1_000, qos=1, packet_id=1))
    writer.packet()
    rows = listed(broker, "sessions")["sessions"]
    assert [row["client_id"] for row in rows] == ["recorder", "[bold]w\x1b[2J"]
    away, here = rows
    assert (away["state"], away["address"], away["kept"]) == ("away", None, True)
    assert (away["queued_messages"], away["subscriptions"]) == (1, 2)
    assert 1_000 <= away["queued_bytes"] < 2_000
    assert 0 < away["expires_s"] <= 3_600
    assert (here["state"], here["kept"], here["owner"]) == ("connected", False, "address:127.0.0.1")
    assert len(listed(broker, "clients")["sessions"]) == 1
    assert listed(broker, "sessions", "--away")["total"] == 1
    assert listed(broker, "sessions", "--most", "1")["total"] == 2
    shown = command("sessions", "list", "--console", broker.running.console)
    assert "\x1b" not in shown.stdout
    assert "recorder" in shown.stdout


def test_a_session_that_was_ended_is_gone_for_good(limited: Limited) -> None:
    broker = limited()
    broker.away("recorder", ("t", 1))
    console = broker.running.console
    ended = command("sessions", "end", "recorder", "nobody", "--console", console)
    assert (ended.returncode, ended.stdout) == (1, "ended 1\nnot found: 'nobody'\n")
    broker.running.process.kill()
    broker.running.process.communicate()
    again = limited()
    assert listed(again, "sessions")["total"] == 0
    assert not again.peer().connect("recorder", clean=False, properties=KEPT).session_present


def test_a_connected_client_whose_session_is_ended_is_told_and_its_will_is_sent(
    limited: Limited,
) -> None:
    broker = limited()
    watcher = broker.client("watcher")
    watcher.send(V5.subscribe(1, "will"))
    watcher.packet()
    client = broker.client("c", clean=False, properties=KEPT, will=Will("will", b"gone"))
    ended = command("sessions", "end", "c", "--console", broker.running.console)
    assert (ended.returncode, ended.stdout) == (0, "ended 1\n")
    assert client.until(Kind.DISCONNECT)[-1].reason == ADMINISTRATIVE
    assert watcher.packet().payload == b"gone"
    assert listed(broker, "sessions")["total"] == 1


def test_a_client_that_is_disconnected_keeps_its_session(limited: Limited) -> None:
    broker = limited()
    client = broker.client("c", clean=False, properties=KEPT)
    old = broker.client("old", V311)
    done = command("clients", "disconnect", "c", "old", "--console", broker.running.console)
    assert (done.returncode, done.stdout) == (0, "disconnected 2\n")
    assert client.until(Kind.DISCONNECT)[-1].reason == ADMINISTRATIVE
    assert old.closed()
    Metrics.when(broker.running, "slipring_sessions_away", 1)
    broker.back("c")


def test_all_of_one_owner_go_and_others_stay(limited: Limited) -> None:
    broker = limited(sessions=20)
    for number in range(15):
        broker.client(f"greedy-{number}", source=GREEDY, clean=False, properties=KEPT)
    broker.client("other")
    rows = overview(broker.running)["owners"]
    greatest = next(row for row in rows if row["limit"] == "sessions")
    assert greatest == {"limit": "sessions", "owner": f"address:{GREEDY}", "held": 15, "most": 15}
    shown = command("status", broker.running.console).stdout
    assert f"address:{GREEDY}" in shown[shown.index("holds most") :]
    refused = broker.peer(source=GREEDY).connect("one-more", properties=KEPT)
    assert refused.reason != 0
    ended = command(
        "sessions", "end", "--owner", f"address:{GREEDY}", "--console", broker.running.console
    )
    assert (ended.returncode, ended.stdout) == (0, "ended 15\n")
    assert [row["client_id"] for row in listed(broker, "sessions")["sessions"]] == ["other"]
    broker.client("greedy-again", source=GREEDY, properties=KEPT)


@pytest.mark.parametrize("arguments", [(), ("a", "--owner", "user:b")])
def test_who_is_meant_must_be_said_in_one_way(arguments: tuple[str, ...]) -> None:
    refused = command("sessions", "end", *arguments)
    assert refused.returncode == 2
    assert "--owner" in refused.stderr


def test_what_changes_something_is_asked_as_json_by_no_other_page(limited: Limited) -> None:
    broker = limited()
    broker.client("c")
    url = f"{broker.running.console}/api/sessions/end"
    named = json.dumps({"client_ids": ["c"]})
    as_json = {"content-type": "application/json"}
    rows = [
        (named, {"content-type": "text/plain"}, 415),
        (named, as_json | {"origin": "http://elsewhere.example"}, 403),
        (named, as_json | {"host": "elsewhere.example"}, 403),
        ("{", as_json, 400),
        ("[]", as_json, 400),
        ('{"client_ids": "c"}', as_json, 400),
        ('{"client_ids": [1]}', as_json, 400),
        ('{"client_ids": ["\\ud800"]}', as_json, 400),
        (json.dumps({"client_ids": ["c"] * 1_001}), as_json, 400),
        (" " * 600_000, as_json, 413),
    ]
    with web() as client:
        for body, headers, code in rows:
            answer = client.post(url, content=body, headers=headers)
            assert answer.status_code == code, (body[:40], headers)
        assert client.get(url).status_code == 405, "it is no question"
        assert listed(broker, "sessions")["total"] == 1, "nobody was ended"
        for most in ("", "-1", "x", "99999999999"):
            found = client.get(f"{broker.running.console}/api/sessions?most={most}")
            assert found.status_code == 400


def own_address() -> str:
    """An address of this machine that other machines reach; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.connect(("192.0.2.1", 9))
        address: str = unused.getsockname()[0]
    return address


@pytest.mark.parametrize("path", ["sessions/end", "clients/disconnect"])
def test_what_changes_something_is_not_taken_from_elsewhere(tmp_path: Path, path: str) -> None:
    """A console that everyone may see lets this machine alone end sessions."""
    config = tmp_path / "open.toml"
    config.write_text("[console]\nallow_anonymous = true\n")
    running = RunningBroker.start(
        tmp_path / "data", "--config", str(config), "--console", "0.0.0.0:0"
    )
    port = running.console.rpartition(":")[2]
    with RawPeer(running.host, running.port) as peer, web() as client:
        assert peer.connect("c").reason == 0
        wanted = {"client_ids": ["c"]}
        elsewhere = f"http://{own_address()}:{port}/api"
        assert client.get(f"{elsewhere}/sessions").json()["total"] == 1, "it is reached"
        for headers in ({}, {"x-forwarded-for": "127.0.0.1"}, {"forwarded": "for=127.0.0.1"}):
            refused = client.post(f"{elsewhere}/{path}", json=wanted, headers=headers)
            assert refused.status_code == 403, headers
            assert "run the command there" in refused.text
        here = f"http://127.0.0.1:{port}/api"
        page = {"origin": "http://elsewhere.example"}
        assert client.post(f"{here}/{path}", json=wanted, headers=page).status_code == 403
        assert peer.quiet(), "nobody was ended"
        for source in ("127.0.0.1", "127.0.0.2"):
            with web(source) as local:
                assert local.post(f"{here}/{path}", json={"client_ids": []}).status_code == 200
        assert client.post(f"{here}/{path}", json=wanted).json()["done"] == ["c"]
        assert peer.packet().reason == ADMINISTRATIVE
    code, errors = running.stop()
    assert code == 0, errors
