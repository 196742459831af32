"""Who is answered: strangers hear what they can reach, nobody gets more than they sent."""

from dataclasses import replace

import pytest

from slipring.discovery.announcement import decode, encode
from slipring.discovery.answering import OUTCOMES, Responder
from slipring.discovery.endpoint import Endpoint
from slipring.discovery.question import encode_question
from slipring.discovery.rate_limit import ALL_BURST, EACH_BURST, EACH_PER_S, SOURCES_MAX, RateLimit
from tests.discovery.brokers import CONSOLE, HERE, LOCAL, TOLD


def answers() -> Responder:
    return Responder(lambda: TOLD)


def outcomes(made: Responder) -> dict[str, int]:
    return {outcome: count for outcome, count in made.counts.items() if count}


@pytest.mark.parametrize("source", ["127.0.0.1", "::1"])
def test_this_machine_is_told_everything(source: str) -> None:
    made = answers()
    found = decode(made.answer(encode_question("n"), source, 0.0) or b"", "n", source)
    assert found
    assert (len(found.urls), found.console) == (4, "http://127.0.0.1:8080")
    assert outcomes(made) == {"answered": 1}


def test_another_machine_is_told_what_it_can_reach() -> None:
    found = decode(answers().answer(encode_question("n"), "10.0.0.9", 0.0) or b"", "n", "10.0.0.8")
    assert found
    assert found.urls == ("mqtt://10.0.0.8:1883", "mqtts://10.0.0.7:8883")
    assert found.console is None


def test_a_broker_of_this_machine_alone_does_not_answer_others() -> None:
    made = Responder(lambda: replace(TOLD, endpoints=(HERE, LOCAL), console=CONSOLE))
    assert made.answer(encode_question("n"), "10.0.0.9", 0.0) is None
    assert outcomes(made) == {"silent": 1}


@pytest.mark.parametrize(
    ("listen", "source", "told"),
    [("0.0.0.0", "fd00::9", False), ("::", "10.0.0.9", True), ("0.0.0.0", "10.0.0.9", True)],
)
def test_a_listener_on_ipv4_is_not_told_over_ipv6(listen: str, source: str, told: bool) -> None:
    made = Responder(lambda: replace(TOLD, endpoints=(Endpoint("mqtt", "mqtt", listen, 1883),)))
    assert (made.answer(encode_question("n"), source, 0.0) is not None) == told


def test_a_question_shorter_than_its_answer_is_ignored() -> None:
    made = answers()
    length = len(encode(TOLD, "n"))
    assert made.answer(b"slipring?1 n".ljust(length - 1), "127.0.0.1", 0.0) is None
    assert outcomes(made) == {"short": 1}
    answer = made.answer(b"slipring?1 n".ljust(length), "127.0.0.1", 0.0)
    assert answer
    assert len(answer) == length


def test_noise_is_ignored_and_counted() -> None:
    made = answers()
    for noise in (b"", b"\xff" * 65_507, b"GET / HTTP/1.1", encode_question("n")[1:]):
        assert made.answer(noise, "127.0.0.1", 0.0) is None
    assert outcomes(made) == {"malformed": 4}
    assert set(made.counts) == set(OUTCOMES)


def test_a_flood_from_one_source_is_cut_and_leaves_others_their_answers() -> None:
    made, question = answers(), encode_question("n")
    for _ in range(10_000):
        made.answer(question, "10.0.0.9", 5.0)
    assert made.counts["answered"] == EACH_BURST
    assert made.counts["limited"] == 10_000 - EACH_BURST
    assert made.answer(question, "10.0.0.10", 5.0)


def test_a_source_is_answered_again_after_a_while() -> None:
    quota = RateLimit()
    while quota.take("a", 1.0):
        pass
    assert not quota.take("a", 1.0 + 0.5 / EACH_PER_S)
    assert quota.take("a", 1.0 + 1.5 / EACH_PER_S)


def test_a_clock_that_goes_back_gives_nothing() -> None:
    quota = RateLimit()
    while quota.take("a", 100.0):
        pass
    assert not quota.take("a", 1.0)
    assert quota.take("a", 2.0)


def test_a_flood_with_forged_sources_is_bounded_in_answers_and_memory() -> None:
    quota = RateLimit()
    taken = sum(quota.take(f"10.{number >> 8}.{number & 255}.1", 1.0) for number in range(50_000))
    assert taken == ALL_BURST
    assert len(quota._sources) == SOURCES_MAX
