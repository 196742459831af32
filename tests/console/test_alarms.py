"""Alarms over the console's HTTP, from a real broker: listed, acknowledged, shelved, kept."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from slipring.control.alarm import COMMENT_CHARACTERS_MAX, COMMENTS_MAX
from slipring.model import Quality, Status
from tests.alarm_peers import alarms_when, console, exhaust, listed
from tests.audit.records import awaited, of_kind
from tests.console.test_login import PASSWORD, USERS, logged_in
from tests.running_broker import RunningBroker, broker_in

ACTS = ("acknowledge", "shelve", "unshelve", "comment")
S = 1_000_000_000
NOON = 1_750_000_000 * S


def act(client: httpx.Client, verb: str, *alarms: dict[str, Any], **fields: Any) -> httpx.Response:
    ids = [alarm["id"] for alarm in alarms]
    return client.post(f"/api/alarms/{verb}", json={"ids": ids, **fields})


def revision(client: httpx.Client) -> int:
    return int(client.get("/api/alarms").json()["revision"])


def test_an_alarm_lives_from_the_first_value_beyond_to_the_history(broker: RunningBroker) -> None:
    with console(broker) as client, exhaust(broker) as egt:
        assert listed(client) == []
        egt.sample("jet/egt", 700.0, time_ns=NOON)
        egt.sample("jet/egt", 910.0, time_ns=NOON + 5 * S)
        warning, critical = sorted(
            alarms_when(client, lambda told: told["active"] == 2), key=lambda one: one["limit"]
        )
        assert (warning["parameter"], warning["limit"], warning["level"]) == (
            "jet/egt", "high", "warning",
        )  # fmt: skip
        assert (critical["limit"], critical["level"], critical["state"]) == (
            "high_critical", "critical", "active",
        )  # fmt: skip
        assert (critical["value"], critical["threshold"], critical["unit"]) == (910, 900, "degC")
        assert (critical["began_ms"], critical["ended_ms"]) == (NOON / 1e6 + 5000, None)
        done = act(client, "acknowledge", critical, comment="seen").json()
        assert done == {"done": [critical["id"]], "unknown": []}
        egt.sample("jet/egt", 800.0, time_ns=NOON + 7 * S)
        ended = alarms_when(client, lambda told: told["active"] == 0)
        assert [(one["limit"], one["state"], one["ended_ms"]) for one in ended] == [
            ("high", "ended", NOON / 1e6 + 7000)
        ]
        [past] = listed(client, "history")
        assert (past["id"], past["acknowledged_by"]) == (critical["id"], "somebody at 127.0.0.1")
        assert [one["text"] for one in past["comments"]] == ["seen"]
        assert act(client, "acknowledge", ended[0]).json()["done"] == [ended[0]["id"]]
        assert listed(client) == []
        assert act(client, "acknowledge", ended[0]).json()["unknown"] == [ended[0]["id"]]


def test_bad_samples_raise_no_alarm_and_an_event_is_told_once(broker: RunningBroker) -> None:
    with console(broker) as client, exhaust(broker) as egt:
        egt.sample("jet/egt", 1e6, quality=Quality(Status.BAD))
        egt.sample("jet/egt", float("nan"))
        egt.sample("jet/egt", -1.0)
        egt.sample("jet/egt", -2.0)
        [alarm] = alarms_when(client, lambda told: told["active"] > 0)
        assert (alarm["limit"], alarm["value"], alarm["times"]) == ("low", -1, 1)
        events = [one["text"] for one in client.get("/api/overview").json()["events"]]
        assert "jet/egt is below low 0 degC: -1 degC" in events
        metrics = client.get("/metrics").text
        assert "slipring_alarms_active 1\n" in metrics
        assert "slipring_alarms_unacknowledged 1\n" in metrics


def test_a_shelved_alarm_disturbs_nobody_until_somebody_takes_it_back(
    broker: RunningBroker,
) -> None:
    with console(broker) as client, exhaust(broker) as egt:
        egt.sample("jet/egt", 860.0)
        [alarm] = alarms_when(client, lambda told: told["active"] == 1)
        assert act(client, "shelve", alarm, seconds=3600).json()["done"] == [alarm["id"]]
        [shelved] = alarms_when(client, lambda told: told["shelved"] == 1, "shelved")
        assert shelved["shelved_by"] == "somebody at 127.0.0.1"
        assert listed(client, "unacknowledged") == [shelved]
        assert client.get("/api/overview").json()["alarms"]["active"] == 0
        act(client, "acknowledge", alarm)
        seen = revision(client)
        egt.sample("jet/egt", 800.0)
        [ended] = alarms_when(client, lambda told: told["revision"] > seen, "ended")
        assert ended["shelved_until_ms"] is not None
        act(client, "unshelve", alarm)
        assert (listed(client), len(listed(client, "history"))) == ([], 1)


def test_what_people_did_and_what_is_active_outlives_a_restart(tmp_path: Path) -> None:
    with broker_in(tmp_path) as first, console(first) as client, exhaust(first) as egt:
        egt.sample("jet/egt", 910.0)
        critical, warning = alarms_when(client, lambda told: told["active"] == 2)
        act(client, "acknowledge", warning, critical, comment="a leak")
        act(client, "shelve", critical, seconds=600)
    with broker_in(tmp_path) as second, console(second) as client:
        told = {one["limit"]: one for one in listed(client)}
        assert told["high"]["acknowledged_by"] == "somebody at 127.0.0.1"
        assert told["high_critical"]["shelved_until_ms"] is not None
        assert told["high"]["comments"][0]["text"] == "a leak"
        assert {one["state"] for one in told.values()} == {"active"}
        with exhaust(second) as egt:
            egt.sample("jet/egt", 700.0)
            [left] = alarms_when(client, lambda told: told["active"] == 0)
            assert (left["limit"], left["state"]) == ("high_critical", "ended")


def test_alarms_need_no_journal(tmp_path: Path) -> None:
    with (
        broker_in(tmp_path, config="[journal]\ntopics = []\n") as running,
        console(running) as client,
        exhaust(running) as egt,
    ):
        egt.sample("jet/egt", 1000.0)
        assert len(alarms_when(client, lambda told: told["active"] == 2)) == 2


@pytest.mark.parametrize("verb", ACTS)
@pytest.mark.parametrize(
    "body",
    ["", "[]", "{}", '{"ids": []}', '{"ids": "1"}', '{"ids": [1]}', '{"ids": ["\\ud800"]}',
     '{"ids": ["1", {}]}', "[" * 5_000, '{"ids": ' + "[[" * 5_000],
)  # fmt: skip
def test_what_names_no_alarms_is_refused_with_a_sentence(
    shared_broker: RunningBroker, verb: str, body: str
) -> None:
    as_json = {"content-type": "application/json"}
    with console(shared_broker) as client:
        answer = client.post(f"/api/alarms/{verb}", content=body, headers=as_json)
        assert (answer.status_code, '{"ids":' in answer.text) == (400, True)


@pytest.mark.parametrize("seconds", [0, -1, "600", True, None, 1e9, 7 * 86_401])
def test_no_alarm_is_shelved_for_ever(shared_broker: RunningBroker, seconds: object) -> None:
    with console(shared_broker) as client:
        answer = client.post("/api/alarms/shelve", json={"ids": ["1"], "seconds": seconds})
        assert (answer.status_code, "seconds" in answer.text) == (400, True)


@pytest.mark.parametrize("text", ["", " ", 7, "a\0b", "x" * (COMMENT_CHARACTERS_MAX + 1)])
def test_a_comment_is_a_bounded_text(shared_broker: RunningBroker, text: object) -> None:
    with console(shared_broker) as client:
        answer = client.post("/api/alarms/comment", json={"ids": ["1"], "comment": text})
        assert (answer.status_code, "comment" in answer.text) == (400, True)


def test_an_alarm_has_a_bounded_number_of_comments(broker: RunningBroker) -> None:
    with console(broker) as client, exhaust(broker) as egt:
        egt.sample("jet/egt", 860.0)
        [alarm] = alarms_when(client, lambda told: told["active"] == 1)
        for number in range(COMMENTS_MAX):
            assert act(client, "comment", alarm, comment=f"{number}").status_code == 200
        refused = act(client, "comment", alarm, comment="one more")
        assert (refused.status_code, f"{COMMENTS_MAX} comments" in refused.text) == (400, True)
        assert len(listed(client)[0]["comments"]) == COMMENTS_MAX


def test_a_state_that_there_is_not_is_refused(shared_broker: RunningBroker) -> None:
    with console(shared_broker) as client:
        answer = client.get("/api/alarms", params={"state": "asleep"})
        assert (answer.status_code, "history" in answer.text) == (400, True)


def test_who_acts_is_known_and_nobody_sees_what_they_may_not_watch(tmp_path: Path) -> None:
    audit = "[audit]\nkeep = 'always'\n"
    with broker_in(tmp_path, config=USERS + audit) as running:
        proof = {"user": "vera", "password": PASSWORD}
        with (
            exhaust(running, "own/egt", **proof) as own,
            exhaust(running, "other/egt", **proof) as other,
        ):
            own.sample("own/egt", 860.0)
            other.sample("other/egt", 860.0)
            with logged_in(running.console, "otto") as otto:
                both = alarms_when(otto, lambda told: told["active"] == 2)
                assert act(otto, "acknowledge", *both, comment="mine").status_code == 200
                assert {one["acknowledged_by"] for one in listed(otto)} == {"otto"}
            with logged_in(running.console, "narrow") as narrow:
                [seen] = alarms_when(narrow, lambda told: told["active"] == 1)
                assert seen["parameter"] == "own/egt"
                assert act(narrow, "acknowledge", seen).status_code == 403
            with logged_in(running.console, "vera") as vera:
                assert act(vera, "shelve", *both, seconds=60).status_code == 403
            record = awaited(running.data, of_kind("changed", topic="alarms"))
            assert record["user"] == "otto"
            assert set(re.findall("[a-z]+/egt high", record["detail"])) == {
                "own/egt high", "other/egt high",
            }  # fmt: skip
            assert record["detail"].endswith(": mine")
