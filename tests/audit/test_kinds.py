"""Each kind of record, from a real broker, with its fields (T13)."""

import json
import time
import urllib.request
from pathlib import Path

import pytest

from slipring.control.token_folder import TokenFolder
from slipring.control.token_issuing import issue
from slipring.control.token_sections import TokenSection
from tests.audit.records import all_records, awaited, of_kind
from tests.audit.users import PASSWORD, SECRET, USERS, VERIFIER
from tests.configured_broker import Configured, ConfiguredBroker, configured
from tests.console_answer import answer_now, basic
from tests.raw_mqtt import V5, Kind, RawPeer, properties

__all__ = ["configured"]


def _post(url: str, body: dict[str, object]) -> None:
    headers = {"content-type": "application/json", **basic("root", SECRET)}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    urllib.request.urlopen(request, timeout=60).close()


@pytest.fixture
def broker(configured: Configured) -> ConfiguredBroker:
    return configured(USERS)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def _anna(broker: ConfiguredBroker, client_id: str = "probe") -> RawPeer:
    return broker.peer(client_id, username="anna", password=PASSWORD)


def test_who_connects_and_goes_is_recorded(broker: ConfiguredBroker, data: Path) -> None:
    with _anna(broker) as peer:
        found = awaited(data, of_kind("connected"))
        assert (found["user"], found["client"], found["outcome"]) == ("anna", "probe", "ok")
        assert (found["listener"], found["proof"]) == ("mqtt", "password")
        assert found["address"].startswith("127.0.0.1:")
        peer.send(V5.disconnect())
        gone = awaited(data, of_kind("disconnected"))
    assert (gone["user"], gone["client"], gone["detail"]) == ("anna", "probe", "said goodbye")
    assert all_records(data)[0]["kind"] == "started"


def test_who_is_refused_is_recorded_by_the_claimed_name_and_no_secret_is_written(
    broker: ConfiguredBroker, data: Path
) -> None:
    with RawPeer(broker.running.host, broker.running.port) as peer:
        assert peer.connect("x", username="anna", password=b"wrong hunter2").reason == 0x86
    found = awaited(data, of_kind("refused"))
    assert (found["user"], found["client"], found["outcome"]) == ("anna", "x", "refused")
    assert found["detail"]
    _anna(broker).close()
    awaited(data, of_kind("connected"))
    stored = b"".join(file.read_bytes() for file in (data / "audit").rglob("*") if file.is_file())
    assert b"hunter2" not in stored
    assert PASSWORD not in stored


def test_a_subscription_is_recorded_with_the_right_and_the_rule(
    broker: ConfiguredBroker, data: Path
) -> None:
    with _anna(broker) as peer:
        peer.send(V5.subscribe(1, ("plant/#", 0)))
        assert peer.packet().reasons == (0,)
        found = awaited(data, of_kind("subscribed"))
        assert (found["user"], found["right"], found["topic"]) == ("anna", "subscribe", "plant/#")
        assert isinstance(found["rule"], int)
        peer.send(V5.subscribe(2, ("secret/#", 0)))
        assert peer.packet().reasons == (0x87,)
        denied = awaited(data, of_kind("denied", right="subscribe"))
    assert (denied["topic"], denied["rule"], denied["outcome"]) == ("secret/#", None, "refused")


def test_a_denied_publish_is_recorded_and_repetitions_are_counted(
    broker: ConfiguredBroker, data: Path
) -> None:
    with _anna(broker) as peer:
        for number, topic in enumerate(["b", *["a"] * 100], 1):
            peer.send(V5.publish(topic, b"secret payload", qos=1, packet_id=number))
            assert peer.packet().reason == 0x87
        awaited(data, of_kind("denied", topic="a"))
    broker.stop()  # writes what was counted
    denied = [one for one in all_records(data) if one["kind"] == "denied"]
    assert {one["topic"] for one in denied} == {"a", "b"}
    assert sum(one["count"] for one in denied if one["topic"] == "a") == 100
    assert len(denied) < 20
    assert {one["right"] for one in denied} == {"publish"}
    assert "secret payload" not in str(denied)


def test_who_plays_a_recording_again_is_recorded_with_the_right_that_it_takes(
    broker: ConfiguredBroker, data: Path
) -> None:
    again = properties(user=("slipring-replay", "1"))
    with broker.peer("again", username="anna", password=PASSWORD, properties=again) as peer:
        found = awaited(data, of_kind("connected", client="again"))
        assert found["detail"].endswith(", plays a recording again")
        peer.send(V5.publish("plant/a", b"1", qos=1, packet_id=1))
        assert peer.packet().reason == 0x87
        denied = awaited(data, of_kind("denied", client="again"))
    assert (denied["right"], denied["topic"]) == ("replay", "plant/a")


def test_what_is_read_of_values_is_recorded(broker: ConfiguredBroker, data: Path) -> None:
    with _anna(broker) as peer:
        answer = V5.publish(
            "$slipring/table/values",
            b'{"names": []}',
            qos=1,
            packet_id=1,
            properties=properties(response_topic="answers"),
        )
        peer.send(answer)
        found = awaited(data, of_kind("read"))
    assert (found["right"], found["topic"]) == ("select", "$slipring/table/values")


def test_what_operators_change_is_recorded(broker: ConfiguredBroker, data: Path) -> None:
    with _anna(broker, "victim") as peer:
        _post(f"{broker.console}/api/memory", {"size": "512MB"})
        _post(f"{broker.console}/api/log", {"room": "requests", "level": "debug"})
        _post(f"{broker.console}/api/sessions/end", {"client_ids": ["victim"]})
        peer.until(Kind.DISCONNECT)
    for topic, words in [("memory", "512MB"), ("log", "debug"), ("clients", "ended")]:
        found = awaited(data, of_kind("changed", topic=topic))
        assert words in found["detail"]
        assert found["right"] == "administer"
        assert found["address"].startswith("127.0.0.1:")
    broker.reload(USERS + "\n[limits]\ntopic_levels = 7\n")
    found = awaited(data, of_kind("changed", topic="limits.topic_levels"))
    assert "is 7 now" in found["detail"]


def test_an_end_in_order_is_recorded(configured: Configured, data: Path) -> None:
    broker = configured(USERS)
    _anna(broker).close()
    broker.stop()
    kinds = [one["kind"] for one in all_records(data)]
    assert kinds[0] == "started"
    assert kinds[-1] == "stopped"


def test_kinds_are_chosen_and_without_users_there_is_no_audit(
    configured: Configured, data: Path
) -> None:
    broker = configured(USERS + '\n[audit]\nkinds = ["refused"]\n')
    _anna(broker).close()
    with RawPeer(broker.running.host, broker.running.port) as peer:
        peer.connect("x", username="anna", password=b"wrong")
    awaited(data, of_kind("refused"))
    assert {one["kind"] for one in all_records(data)} == {"started", "refused"}


def test_without_users_no_audit_is_kept(configured: Configured, data: Path) -> None:
    broker = configured("")
    broker.peer("probe").close()
    assert not (data / "audit").exists()


def test_who_reads_at_the_console_is_recorded_and_who_may_not(
    broker: ConfiguredBroker, data: Path
) -> None:
    assert answer_now(f"{broker.console}/api/sessions", basic("root", SECRET))[0] == 200
    found = awaited(data, of_kind("read", topic="/api/sessions"))
    assert (found["user"], found["right"], found["proof"]) == ("root", "watch", "password")
    assert answer_now(f"{broker.console}/api/audit", basic("root", SECRET))[0] == 200
    assert awaited(data, of_kind("read", topic="/api/audit"))["right"] == "administer"
    assert answer_now(f"{broker.console}/api/audit", basic("anna", SECRET))[0] == 403
    denied = awaited(data, of_kind("denied", topic="/api/audit", user="anna"))
    assert (denied["outcome"], denied["proof"]) == ("refused", "password")
    assert answer_now(f"{broker.console}/api/audit")[0] == 401
    awaited(data, of_kind("denied", topic="/api/audit", user=None))


def test_wrong_tokens_and_too_many_attempts_at_the_console_are_recorded(
    broker: ConfiguredBroker, data: Path
) -> None:
    token = {"authorization": "Bearer a-secret-that-is-no-token"}
    assert answer_now(f"{broker.console}/api/sessions", token)[0] == 401
    found = awaited(data, of_kind("login", outcome="refused"))
    assert "a-secret" not in str(found)
    code = 0
    while code != 429:
        code, _ = answer_now(f"{broker.console}/api/sessions", basic("root", "wrong"))
        assert code in (401, 429)
    found = awaited(data, of_kind("quota", topic="console.attempts"))
    assert (found["outcome"], found["address"].rpartition(":")[0]) == ("limited", "127.0.0.1")


def test_what_was_done_to_tokens_by_commands_is_recorded(
    configured: Configured, data: Path
) -> None:
    broker = configured(USERS + "\n[token]\nenabled = true\n")
    folder = TokenFolder(data / "tokens")
    folder.rotate(time.time())
    awaited(data, of_kind("changed", topic="tokens"))
    made = issue(folder, TokenSection(enabled=True), "anna")
    with broker.peer("bearer", username="anna", password=made.text.encode()):
        found = awaited(data, of_kind("connected", client="bearer"))
        assert (found["user"], made.id in found["proof"]) == ("anna", True)
        folder.revoke_token(made.id, made.expires_s)
        found = awaited(data, of_kind("token_revoked"))
    assert made.id in found["detail"]
    assert made.text not in str(all_records(data))


def test_a_file_that_is_refused_is_recorded(broker: ConfiguredBroker, data: Path) -> None:
    broker.reload("this is no TOML")
    found = awaited(data, of_kind("changed", topic="config"))
    assert found["outcome"] == "refused"


def test_a_reader_of_the_journal_elsewhere_is_recorded(configured: Configured, data: Path) -> None:
    broker = configured(f"{USERS}\n[[user]]\nname = 'eve'\npassword = '{VERIFIER}'\n")
    with _anna(broker) as peer:
        given = properties(response_topic="answers")
        asked = V5.publish("$slipring/journal/about", b"", qos=1, packet_id=1, properties=given)
        peer.send(asked)
        found = awaited(data, of_kind("read", right="journal"))
    assert (found["user"], found["topic"]) == ("anna", "$slipring/journal/about")
    with broker.peer("other", username="eve", password=PASSWORD) as peer:
        peer.send(asked)
        denied = awaited(data, of_kind("denied", right="journal"))
    assert (denied["user"], denied["topic"]) == ("eve", "$slipring/journal/about")
