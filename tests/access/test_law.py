"""The law (T13): what the broker does equals a naive reading of the rules, on random policies,
topics and filters, before and after the rules change.
"""

from dataclasses import dataclass
from itertools import product

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.access.paths import declare, frame
from tests.access.proofs import PASSWORDS
from tests.access.world import Rule, World, heard, published, subscribed
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.remote.asking import FINE, Asker

WIDE = "narrow"
USER, CLIENT = "pass", "law"
WHO = ("anyone", "known", "user:pass", "user:boss-not", "role:none")
LEVELS = ("a", "b", USER, CLIENT)
TOPICS = ["/".join(levels) for size in (1, 2, 3) for levels in product(LEVELS[:3], repeat=size)][
    :20
]
PATTERNS = (
    "#",
    "+",
    "a/#",
    "+/b",
    "a/+",
    "b",
    "a/b/#",
    "%u/#",
    "a/%u",
    "%c/#",
    "+/%u/+",
    "a",
    "b/#",
)
FILTERS = ("#", "+", "a/#", "+/b", "a", "a/b", "b/#", "+/+/a", "pass/#")
RIGHTS = ("publish", "subscribe", "retain", "select", "declare", "journal")


def matches(pattern: str, topic: str) -> bool:
    """MQTT's rules of wildcards, in the fewest words."""
    wanted, there = pattern.split("/"), topic.split("/")
    if wanted[-1] == "#":
        head = wanted[:-1]
        return len(there) >= len(head) and all(
            one in ("+", other) for one, other in zip(head, there, strict=False)
        )
    return len(wanted) == len(there) and all(
        one in ("+", other) for one, other in zip(wanted, there, strict=True)
    )


def allowed(rules: list[Rule], right: str, topic: str) -> bool:
    """A rule that denies wins; without a rule that allows, nothing is allowed."""
    said = [
        rule.allows
        for rule in rules
        if rule.who in {"anyone", "known", "user:pass"}
        and right in rule.rights
        and any(
            matches(one.replace("%u", USER).replace("%c", CLIENT), topic) for one in rule.topics
        )
    ]
    return any(said) and all(said)


def some(values: tuple[str, ...], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True).map(tuple)


ALLOWED = st.builds(Rule, st.sampled_from(WHO), some(RIGHTS, 6), some(PATTERNS, 3))
DENIED = st.builds(  # to this user only: boss goes on
    Rule, st.sampled_from(WHO[2:]), some(RIGHTS, 6), some(PATTERNS, 3), st.just(False)
)
RULES = st.lists(ALLOWED | ALLOWED | DENIED, max_size=5)


@dataclass
class Trial:
    """A client under the rules, and boss."""

    client: RawPeer
    boss: RawPeer

    def expect(self, rules: list[Rule], right: str) -> set[str]:
        return {topic for topic in TOPICS if allowed(rules, right, topic)}

    def received(self, peer: RawPeer) -> set[str]:
        """The topics of what came by now."""
        self.boss.settle()
        return {packet.topic for packet in heard(peer)} & set(TOPICS)

    def publishes(self) -> set[str]:
        """The topics on which it may publish, with and without being kept."""
        self.client.send(
            *(V5.publish(topic, b"1", qos=1, packet_id=1 + at) for at, topic in enumerate(TOPICS))
        )
        found: set[str] = set()
        for _ in TOPICS:
            packet = self.client.until(Kind.PUBACK, keep=True)[-1]
            found |= {TOPICS[packet.id - 1]} if packet.reason < 0x80 else set()
        return found

    def keeps(self) -> set[str]:
        found: set[str] = set()
        for topic in TOPICS:
            if published(self.client, topic, b"2", retain=True) < 0x80:
                found.add(topic)
        return found

    def gets(self, wanted: str, *, share: bool = False) -> set[str]:
        """What reaches it by a subscription: nothing if that is refused."""
        whole = f"$share/law/{wanted}" if share else wanted
        if subscribed(self.client, whole) >= 0x80:
            return set()
        self.received(self.client)
        self.boss.send(*(V5.publish(topic, b"3") for topic in TOPICS))
        found = self.received(self.client)
        self.client.send(V5.unsubscribe(1, whole))
        self.client.until(Kind.UNSUBACK, keep=True)
        return found

    def is_shown(self, wanted: str) -> set[str]:
        """Which retained messages it gets."""
        if subscribed(self.client, wanted) >= 0x80:
            return set()
        found = self.received(self.client)
        self.client.send(V5.unsubscribe(1, wanted))
        self.client.until(Kind.UNSUBACK, keep=True)
        return found

    def reads(self, start: int, end: int) -> set[str]:
        """The topics in the journal that it is given."""
        heard(self.client)
        asker = Asker(self.client)
        found: set[str] = set()
        while start < end:
            answer = asker.read(start, end)
            if answer.status != FINE:
                return set()
            found |= {one.topic for one in answer.messages}
            start = answer.end
        return found & set(TOPICS)


def journal_end(boss: RawPeer) -> int:
    return Asker(boss).ask("about").about[1]


def check(trial: Trial, rules: list[Rule]) -> None:
    """Every path agrees with the naive reading."""
    seen = trial.expect(rules, "subscribe")
    assert trial.publishes() == trial.expect(rules, "publish")
    assert trial.keeps() == trial.expect(rules, "publish") & trial.expect(rules, "retain")
    for topic in TOPICS:
        published(trial.boss, topic, b"kept", retain=True)
    for wanted in FILTERS:
        meant = {topic for topic in seen if matches(wanted, topic)}
        assert trial.gets(wanted) == meant, wanted
        assert trial.is_shown(wanted) == meant, wanted
        assert trial.gets(wanted, share=True) == meant, wanted
    start = journal_end(trial.boss)
    for topic in TOPICS:
        published(trial.boss, topic, b"recorded")
    assert trial.reads(start, journal_end(trial.boss)) == trial.expect(rules, "journal")


LAW = settings(
    max_examples=20,
    deadline=None,
    # Each example is a second of a real broker: a failing one is shown as it was found.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@LAW
@given(RULES, RULES)
def test_what_the_broker_does_equals_a_naive_reading_of_the_rules(
    world: World, first: list[Rule], then: list[Rule]
) -> None:
    named = {"username": USER, "password": PASSWORDS[USER].encode()}
    with world.boss() as boss, RawPeer(world.broker.host, world.broker.port) as client:
        world.allow(*first)
        assert client.connect(CLIENT, **named).reason == 0
        trial = Trial(client, boss)
        check(trial, first)
        world.allow(*then)
        check(trial, then)


@LAW
@given(RULES, RULES)
def test_a_subscription_that_stays_gives_what_the_rules_allow_at_each_moment(
    world: World, first: list[Rule], then: list[Rule]
) -> None:
    """Of messages, of samples in frames and of selections; nothing is asked for again."""
    named = {"username": USER, "password": PASSWORDS[USER].encode()}
    place = (world.broker.host, world.broker.port)
    with world.boss() as boss, RawPeer(*place) as plain, RawPeer(*place) as choosing:
        world.allow(*first)
        for peer, client_id in ((plain, CLIENT), (choosing, f"{CLIENT}-2")):
            assert peer.connect(client_id, **named).reason == 0
        wide = subscribed(plain, "#") < 0x80
        assert subscribed(choosing, "#", deliver="json", beat="0") < 0x80
        for topic in TOPICS:
            declare(boss, "", topic)
        for rules in (first, then):
            world.allow(*rules)
            trials = Trial(plain, boss), Trial(choosing, boss)
            for trial in trials:
                trial.received(trial.client)
            for number, topic in enumerate(TOPICS):
                assert frame(boss, "", topic, float(number)) == 0
            assert trials[0].received(plain) == (
                trials[0].expect(rules, "subscribe") if wide else set()
            )
            mine = {topic for topic in TOPICS if allowed(rules, "select", topic)}
            assert trials[1].received(choosing) == mine
