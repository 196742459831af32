"""Who may watch some topics is shown these, and nothing tells of the others."""

import json
from collections.abc import Iterator

import httpx
import pytest

import slipring
from tests.console.test_login import PASSWORD, USERS, logged_in, page
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

SYS = '\n[[access.rule]]\nwho = ["user:nobody-special"]\nallow = ["watch"]\ntopics = ["$SYS/#"]\n'


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with topics and parameters below `own` and `other`."""
    with broker_in(tmp_path_factory.mktemp("busy"), config=USERS + SYS) as running:
        writer = RawPeer(running.host, running.port)
        writer.connect("secretive", username="anna", password=PASSWORD.encode())
        topics = ("own/speed", "other/speed")
        writer.send(*(V5.publish(topic, b"42", retain=True) for topic in topics))
        writer.settle()
        yield running
        writer.socket.close()


def test_the_live_message_has_only_what_may_be_watched(busy: RunningBroker) -> None:
    with logged_in(busy.console, "narrow") as client, page(client) as socket:
        for message in (client.get("/api/overview").json(), json.loads(socket.recv(PATIENCE_S))):
            assert [one["topic"] for one in message["values"]] == ["own/speed"]
            assert {one["prefix"] for one in message["prefixes"]} <= {"own/speed"}
            text = json.dumps(message)
            for hidden in ("other/", "secretive", "anna", "127.0.0.1:"):
                assert hidden not in text.replace(message["broker"]["mqtt"], ""), hidden
            assert message["clients"] == message["events"] == message["away"] == []
            assert message["topics_total"] == message["totals"]["messages_in"] == 0


def test_who_may_watch_everything_is_shown_everything(busy: RunningBroker) -> None:
    with logged_in(busy.console, "vera") as client:
        message = client.get("/api/overview").json()
        shown = {one["topic"] for one in message["values"]}
        assert {"own/speed", "other/speed"} <= shown
        assert [one["client_id"] for one in message["clients"]] == ["secretive"]


async def test_parameters_that_may_not_be_watched_are_neither_found_nor_counted(
    busy: RunningBroker,
) -> None:
    async with slipring.connect(busy.url, user="anna", password=PASSWORD) as client:
        await client.declare("own", {"rpm": "f64"})
        await client.declare("other", {"rpm": "f64"})
        for name, found in (("narrow", ["own/rpm"]), ("vera", ["other/rpm", "own/rpm"])):
            with logged_in(busy.console, name) as browser:
                for search in ("", "rpm", "+/rpm", "#"):
                    told = browser.get("/api/parameters", params={"search": search}).json()
                    assert [one["name"] for one in told["definitions"]] == found
                    assert (told["parameters"], told["matching"]) == (len(found), len(found))
                hidden = browser.get("/api/parameters", params={"search": "other/rpm"}).json()
                unknown = browser.get("/api/parameters", params={"search": "absent/rpm"}).json()
                if name == "narrow":
                    for one in (hidden, unknown):
                        del one["at_ms"], one["search"]
                    assert hidden == unknown


def test_metrics_name_only_prefixes_that_may_be_watched(busy: RunningBroker) -> None:
    url = f"{busy.console}/metrics"
    narrow = httpx.get(url, auth=("nobody-special", PASSWORD), timeout=PATIENCE_S).text
    assert "slipring_clients 1\n" in narrow
    assert "own/speed" not in narrow
    everything = httpx.get(url, auth=("vera", PASSWORD), timeout=PATIENCE_S).text
    assert "own/speed" in everything
