"""The checker finds what it is there for: what is lost, twice, out of order. No broker here."""

from tests.faults.publisher import Publisher, payload
from tests.faults.subscriber import Arrival, Subscriber
from tests.faults.verdict import Course, Report, judge
from tests.raw_mqtt import V5, V311, Kind, Packet

COURSE = Course(seed=7)


def published(qos: int, *numbers: int, resent: tuple[int, ...] = ()) -> Publisher:
    """One whose messages with these numbers are acknowledged."""
    return Publisher("p", V5, qos, acknowledged=set(numbers), resent=set(resent))


def received(*numbers: int, qos: int = 1, connections: tuple[int, ...] = ()) -> Subscriber:
    """One that got these messages, on these connections."""
    each = connections or (1,) * len(numbers)
    arrivals = [Arrival("p", number, qos, one) for number, one in zip(numbers, each, strict=True)]
    return Subscriber("s", V5, qos, arrivals=arrivals)


def judged(publisher: Publisher, *subscribers: Subscriber) -> Report:
    return judge([publisher], subscribers, COURSE)


def test_what_is_acknowledged_and_delivered_is_clean() -> None:
    report = judged(published(1, 1, 2), received(1, 2, 3))
    assert report.is_clean
    assert (report.acknowledged, report.delivered) == (2, 3)


def test_what_is_acknowledged_and_not_delivered_is_lost() -> None:
    report = judged(published(1, 1, 2, 3), received(1, 3))
    assert report.lost == ("p 2 at s",)
    assert not report.is_clean
    assert "lost 1 (p 2 at s)" in str(report)


def test_what_was_never_acknowledged_is_not_lost() -> None:
    assert judged(published(1, 1), received(1)).lost == ()


def test_every_durable_subscriber_must_get_it() -> None:
    other = Subscriber("t", V5, 1)
    assert judged(published(1, 1), received(1), other).lost == ("p 1 at t",)


def test_one_member_of_a_group_is_enough() -> None:
    one, other = received(1), received(2)
    one.group = other.group = "g"
    report = judged(published(1, 1, 2), one, other)
    assert report.is_clean


def test_what_is_not_in_the_journal_is_lost() -> None:
    report = judge([published(1, 1, 2)], [received(1, 2)], COURSE, {("p", 1): 1})
    assert report.lost == ("p 2 at the journal",)


def test_exactly_once_is_once_for_a_subscriber_a_group_and_the_journal() -> None:
    twice = received(1, 1, qos=2, connections=(1, 2))
    assert judged(published(2, 1), twice).duplicated == ("p 1 at s, 2 times",)
    one, other = received(1, qos=2), received(1, qos=2)
    one.group = other.group = "g"
    assert judged(published(2, 1), one, other).duplicated == ("p 1 at g, 2 times",)
    report = judge([published(2, 1)], [received(1, qos=2)], COURSE, {("p", 1): 2})
    assert report.duplicated == ("p 1 in the journal, 2 times",)


def test_at_least_once_may_come_again_on_another_connection_or_when_it_was_sent_again() -> None:
    again = judged(published(1, 1), received(1, 1, connections=(1, 2)))
    assert (again.is_clean, again.repeated) == (True, 1)
    resent = judged(published(1, 1, resent=(1,)), received(1, 1))
    assert (resent.is_clean, resent.repeated) == (True, 1)
    assert judged(published(1, 1), received(1, 1)).duplicated == ("p 1 at s, 2 times",)


def test_order_is_that_of_first_arrivals() -> None:
    assert judged(published(1), received(1, 3, 2)).reordered == ("p 2 after 3 at s",)
    assert judged(published(1), received(1, 2, 3, 2, 3, 4)).reordered == ()


def test_a_message_that_was_refused_has_no_place_in_the_order() -> None:
    publisher = published(1, 1, 2, 3)
    publisher.refused[2] = 0x97
    assert judged(publisher, received(1, 3, 2)).reordered == ()


def test_a_session_that_is_gone_is_counted() -> None:
    publisher = published(1, 1)
    publisher.hear(Packet(Kind.CONNACK))
    report = judged(publisher, received(1))
    assert report.sessions_lost == 1
    assert not report.is_clean


def connected(qos: int, count: int) -> Publisher:
    """A publisher with so many messages in flight."""
    publisher = Publisher("p", V311, qos, goal=count)
    publisher.hear(Packet(Kind.CONNACK))
    publisher.more()
    return publisher


def test_a_publisher_sends_again_what_is_not_acknowledged_under_its_identifier() -> None:
    publisher = connected(1, 3)
    publisher.hear(Packet(Kind.PUBACK, id=2))
    publisher.gone()
    again = publisher.hear(Packet(Kind.CONNACK, session_present=True))
    expected = [
        V311.publish("faults/p", payload("p", one), qos=1, packet_id=one, dup=True)
        for one in (1, 3)
    ]
    assert again == b"".join(expected)
    assert (publisher.acknowledged, publisher.resent) == ({2}, {1, 3})


def test_a_publisher_that_has_a_pubrec_goes_on_with_pubrel() -> None:
    publisher = connected(2, 2)
    assert publisher.hear(Packet(Kind.PUBREC, id=1)) == V311.pubrel(1)
    publisher.gone()
    again = publisher.hear(Packet(Kind.CONNACK, session_present=True))
    message = V311.publish("faults/p", payload("p", 2), qos=2, packet_id=2, dup=True)
    assert again == V311.pubrel(1) + message
    publisher.hear(Packet(Kind.PUBCOMP, id=1))
    assert (publisher.acknowledged, publisher.resent, set(publisher.in_flight)) == ({1}, {2}, {2})


def test_a_publisher_publishes_as_new_what_was_refused() -> None:
    publisher = connected(1, 1)
    publisher.hear(Packet(Kind.PUBACK, id=1, reason=0x97))
    assert (publisher.refused, publisher.acknowledged) == ({1: 0x97}, set())
    publisher.try_again()
    assert publisher.more() == V311.publish("faults/p", payload("p", 1), qos=1, packet_id=2)


def message(number: int, packet_id: int, qos: int = 2) -> Packet:
    return Packet(Kind.PUBLISH, id=packet_id, qos=qos, payload=payload("p", number))


def test_a_subscriber_notes_a_message_once_while_it_holds_its_identifier() -> None:
    subscriber = Subscriber("s", V5, 2)
    assert subscriber.hear(message(1, 9)) == V5.pubrec(9)
    subscriber.gone()
    assert subscriber.hear(message(1, 9)) == V5.pubrec(9)
    assert subscriber.hear(Packet(Kind.PUBREL, id=9)) == V5.pubcomp(9)
    assert [one.number for one in subscriber.arrivals] == [1]
    subscriber.hear(message(1, 9))
    assert [one.number for one in subscriber.arrivals] == [1, 1]


def test_an_identifier_that_is_used_for_two_messages_at_once_is_found() -> None:
    subscriber = Subscriber("s", V5, 2)
    subscriber.hear(message(1, 9))
    subscriber.hear(message(2, 9))
    assert not judged(published(2, 1), subscriber).is_clean


def test_a_slow_subscriber_leaves_messages_in_flight() -> None:
    subscriber = Subscriber("s", V5, 1, lag=1)
    assert subscriber.hear(message(1, 8, qos=1)) == b""
    assert subscriber.hear(message(2, 9, qos=1)) == V5.puback(8)
    assert subscriber.catch_up() == V5.puback(9)
