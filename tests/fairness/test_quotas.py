"""One user, or one address, against newcomers: whatever it takes, others still get some."""

from typing import Any

import pytest

from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.limited_broker import (
    KEPT,
    Limited,
    LimitedBroker,
    ask,
    chosen,
    declare,
    retain,
    wait,
)
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, V311, Kind, Packet, RawPeer

QUOTA, BUSY, NOBODY = 0x97, 0x89, 0x10
GREEDY, MODEST, NEWCOMER, LATER = (f"127.0.0.{number}" for number in (2, 3, 4, 5))
"""Addresses of this machine, so that each is one owner."""
PASSWORD = "pencil"


def users(*names: str, operator: str = "") -> str:
    """Their tables in the config file, and rules by which everybody may do everything."""
    stored = verifier(PASSWORD)
    tables = [
        f"[[user]]\nname = '{name}'\npassword = '{stored}'\n"
        f"roles = {['operator'] if name == operator else []}\n"
        for name in names
    ]
    return "".join([*tables, ALL])


def proven(name: str) -> dict[str, Any]:
    """How a user connects."""
    return {"username": name, "password": PASSWORD.encode()}


def why(refused: Packet) -> str:
    return str(refused.properties["reason_string"][0])


def take_connections(broker: LimitedBroker, source: str, count: int) -> None:
    for number in range(count):
        broker.client(f"{source}-{number}", source=source)


def leave_session(broker: LimitedBroker, client_id: str, **options: Any) -> Packet:
    """The answer to a client that asks for a session that is kept, and goes."""
    with broker.peer(source=options.pop("source", "")) as peer:
        answer = peer.connect(client_id, properties=KEPT, **options)
        if answer.reason == 0:
            peer.send(V5.disconnect())
            assert peer.closed()
    return answer


def test_owner_connections_percent_one_address_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(connections=20)
    take_connections(broker, GREEDY, 18)
    assert broker.reached("owner_connections_percent") == 0
    refused = broker.peer(source=GREEDY).connect("one-more")
    assert refused.reason == QUOTA
    assert "limits.owner_connections_percent" in why(refused)
    assert broker.peer(V311, source=GREEDY).connect("old").reason == 3
    assert broker.reached("owner_connections_percent") == 2
    broker.client(f"{GREEDY}-0", source=GREEDY)  # takes the place of its own connection
    broker.client("newcomer", source=NEWCOMER)


def test_owner_connections_percent_a_user_is_one_wherever_it_comes_from(limited: Limited) -> None:
    broker = limited(connections=20, users=users("anna", "berta"))
    for number in range(18):
        broker.client(f"anna-{number}", source=f"127.0.1.{number + 1}", **proven("anna"))
    assert broker.peer(source=GREEDY).connect("anna-18", **proven("anna")).reason == QUOTA
    broker.client("berta", source="127.0.1.1", **proven("berta"))


def test_owner_connections_percent_holds_at_a_listener_too(limited: Limited) -> None:
    broker = limited(
        users="[[listener]]\nname = 'small'\nlisten = '127.0.0.1:0'\nconnections = 10",
        connections=90,
    )
    port = int(broker.running.further["small"].rpartition(":")[2])
    with RawPeer("127.0.0.1", port, source=NEWCOMER) as newcomer:
        held = []
        for number in range(9):
            held.append(RawPeer("127.0.0.1", port, source=GREEDY))
            assert held[-1].connect(f"greedy-{number}").reason == 0
        with RawPeer("127.0.0.1", port, source=GREEDY) as one_more:
            assert one_more.connect("one-more").reason == QUOTA
        assert newcomer.connect("newcomer").reason == 0
        for peer in held:
            peer.close()


def test_reserve_percent_the_last_are_for_who_has_none_and_for_operators(limited: Limited) -> None:
    broker = limited(connections=20, reserve_percent=10, users=users("olga", operator="olga"))
    take_connections(broker, GREEDY, 17)
    take_connections(broker, MODEST, 1)
    refused = broker.peer(source=MODEST).connect("modest-too")
    assert (refused.reason, broker.reached("reserve_percent")) == (BUSY, 1)
    assert "limits.reserve_percent" in why(refused)
    broker.client("newcomer", source=NEWCOMER)
    broker.client("later", source=LATER)
    assert broker.peer(source="127.0.0.6").connect("too-late").reason == BUSY
    assert broker.reached("connections") == 1
    broker.client("operator", source=GREEDY, properties=KEPT, **proven("olga"))


def test_operators_are_let_in_beyond_the_limits_but_not_without_a_bound(limited: Limited) -> None:
    broker = limited(connections=1, sessions=1, users=users("olga", operator="olga"))
    broker.client("only", properties=KEPT)
    for number in range(16):
        broker.client(f"olga-{number}", properties=KEPT, **proven("olga"))
    assert broker.peer().connect("olga-16", **proven("olga")).reason == BUSY


def test_owner_sessions_percent_one_owner_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(sessions=20)
    for number in range(15):
        assert leave_session(broker, f"greedy-{number}", source=GREEDY).reason == 0
    refused = leave_session(broker, "greedy-15", source=GREEDY)
    assert refused.reason == QUOTA
    assert "limits.owner_sessions_percent" in why(refused)
    assert broker.reached("owner_sessions_percent") == 1
    broker.client("greedy-clean", source=GREEDY)  # needs no session that is kept
    assert leave_session(broker, "greedy-0", source=GREEDY).reason == 0, "its own goes on"
    assert leave_session(broker, "newcomer", source=NEWCOMER).reason == 0


def test_clean_newcomers_get_in_while_no_more_sessions_are_kept(limited: Limited) -> None:
    broker = limited(sessions=2)
    for number in range(2):
        assert leave_session(broker, f"kept-{number}").reason == 0
    assert leave_session(broker, "kept-2").reason == QUOTA
    for number in range(5):
        broker.client(f"clean-{number}")
    broker.client("clean-old", V311)
    assert broker.peer(V311).connect("kept-old", clean=False).reason == 3


def test_a_session_that_is_not_kept_any_more_makes_room(limited: Limited) -> None:
    broker = limited(sessions=1)
    assert leave_session(broker, "one").reason == 0
    assert leave_session(broker, "two").reason == QUOTA
    broker.client("one", clean=False)  # goes on with it, and lets it end
    assert leave_session(broker, "two").reason == 0


def test_owner_retained_percent_one_owner_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(retained_messages=8)
    greedy, other = broker.client("g", source=GREEDY), broker.client("o", source=NEWCOMER)
    assert [retain(greedy, f"t/{number}", b"1") for number in range(6)] == [NOBODY] * 6
    greedy.send(V5.publish("t/6", b"1", qos=1, packet_id=1, retain=True))
    refused = greedy.packet()
    assert refused.reason == QUOTA
    assert "limits.owner_retained_percent" in why(refused)
    assert broker.reached("owner_retained_percent") == 1
    assert retain(other, "other", b"1") == NOBODY
    assert retain(other, "t/0", b"2") == NOBODY, "the last to retain it has it"
    assert retain(greedy, "t/6", b"1") == NOBODY


def test_owner_waiting_percent_one_owner_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(waiting_messages=8)
    greedy, other = broker.client("g", source=GREEDY), broker.client("o", source=NEWCOMER)
    assert [wait(greedy, f"t/{number}") for number in range(6)] == [NOBODY] * 6
    assert wait(greedy, "t/6") == QUOTA
    assert broker.reached("owner_waiting_percent") == 1
    assert wait(other, "other") == NOBODY


def rows(first: int, end: int, **what: str) -> list[dict[str, str]]:
    return [{"name": f"n/{number}", **what} for number in range(first, end)]


def test_owner_parameters_percent_one_owner_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(parameters=20, reserve_percent=0)
    greedy, other = broker.client("g", source=GREEDY), broker.client("o", source=NEWCOMER)
    assert "indices" in declare(greedy, "table", parameters=rows(0, 19, type="f64"))
    refused = declare(greedy, "table", parameters=rows(0, 20, type="f64"))
    assert refused["error"] == "quota"
    assert "limits.owner_parameters_percent" in refused["message"]
    assert broker.reached("owner_parameters_percent") == 1
    assert "indices" in declare(other, "table", parameters=rows(0, 20, type="f64"))
    ask(greedy, "table/remove", names=["n/0"], force=True)
    assert "indices" in declare(greedy, "table", parameters=rows(0, 1, type="f64"))


def test_owner_selections_percent_one_owner_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(selection_bytes=4_000)
    greedy, other = broker.client("g", source=GREEDY), broker.client("o", source=NEWCOMER)
    sharing = broker.client("s", source=MODEST)
    declare(greedy, "table", parameters=rows(0, 200, type="f64"))
    answers = [chosen(greedy, f"n/{number}", change="true") for number in range(200)]
    reasons = [answer.reasons for answer in answers]
    granted = reasons.index((QUOTA,))
    assert granted > 0
    assert set(reasons[:granted]) == {(0,)}
    assert "limits.owner_selections_percent" in why(answers[granted])
    assert broker.reached("owner_selections_percent") == 200 - granted
    assert chosen(other, "n/199", change="true").reasons == (0,)
    assert chosen(sharing, "n/0", change="true").reasons == (0,), "what is there is shared"
    greedy.send(V5.unsubscribe(2, "n/0"))
    greedy.until(Kind.UNSUBACK)
    assert chosen(greedy, "n/100", change="true").reasons == (0,), "who shares it has it now"


def test_owner_streams_percent_one_owner_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(streams=8)
    greedy, other = broker.client("g", source=GREEDY), broker.client("o", source=NEWCOMER)
    small = {"media": "audio/pcm"}
    assert "indices" in declare(greedy, "streams", streams=rows(0, 6, **small))
    assert declare(greedy, "streams", streams=rows(6, 7, **small))["error"] == "quota"
    assert broker.reached("owner_streams_percent") == 1
    assert "indices" in declare(other, "streams", streams=rows(6, 8, **small))


@pytest.mark.parametrize("killed", [False, True])
def test_who_holds_what_is_known_after_a_restart(limited: Limited, killed: bool) -> None:
    limits = {"sessions": 8, "retained_messages": 8, "waiting_messages": 8, "parameters": 20}
    broker = limited(**limits, streams=8)
    greedy = broker.client("g", source=GREEDY)
    for number in range(6):
        assert leave_session(broker, f"greedy-{number}", source=GREEDY).reason == 0
        assert retain(greedy, f"r/{number}", b"1") == NOBODY
        assert wait(greedy, f"w/{number}") == NOBODY
    declare(greedy, "table", parameters=rows(0, 19, type="f64"))
    declare(greedy, "streams", streams=[{"name": f"s/{n}", "media": "a/b"} for n in range(6)])
    if killed:
        broker.running.process.kill()
        broker.running.process.communicate()
    else:
        broker.running.stop()
    for again in (1, 2):
        broker = limited(**limits, streams=8)
        for source, is_let_in in ((GREEDY, False), (f"127.0.2.{again}", True)):
            took = (
                leave_session(broker, f"new-{again}", source=source).reason == 0,
                retain(peer := broker.client(f"p-{again}", source=source), f"n/r/{again}", b"1")
                == NOBODY,
                wait(peer, f"n/w/{again}") == NOBODY,
                again == 2
                or "indices" in declare(peer, "table", parameters=rows(19, 20, type="f64")),
                "indices"
                in declare(peer, "streams", streams=[{"name": f"n/s/{again}", "media": "a/b"}]),
            )
            expected = (is_let_in,) * 3 + (is_let_in or again == 2, is_let_in)
            assert took == expected, source
        broker.running.stop()


def test_a_retained_message_that_finds_no_room_to_wait_is_retained_all_the_same(
    limited: Limited,
) -> None:
    broker = limited(waiting_messages=8)
    greedy = broker.client("g")
    while wait(greedy, "t/waits") == NOBODY:
        pass
    asked = properties(user=("slipring-wait", "1"))
    greedy.send(
        V5.publish("t/kept", b"kept", retain=True, properties=asked),
        V5.publish("t/after", b"after", qos=1, packet_id=2),
    )
    assert greedy.packet().reason == NOBODY
    assert broker.running.stop()[0] == 0
    reader = limited(waiting_messages=8).client("r")
    reader.send(V5.subscribe(1, ("t/kept", 1)))
    _, found = reader.packet(), reader.packet()
    assert (found.topic, found.payload, found.retain) == ("t/kept", b"kept", True)
