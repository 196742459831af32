"""Every request of a run: what its asker and the services saw of it, and what is wrong."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

GONE = "the service has gone"


@dataclass(frozen=True)
class InquiryKind:
    """Requests that are asked and served alike."""

    name: str
    topic: str
    ends: frozenset[str]
    """How they may end."""
    weight: int
    terms: tuple[tuple[str, str], ...] = ()
    timeouts_s: tuple[float, float] = (3_600, 3_600)
    is_cancelled: bool = False


def kind(name: str, topic: str, ends: str, weight: int, **more: object) -> InquiryKind:
    return InquiryKind(name, topic, frozenset(ends.split()), weight, **more)  # type: ignore[arg-type]


AWAY = "not-delivered"
"""How a request that does not wait ends while every service is away."""
WAIT = ("slipring-wait", "1")
KINDS = (
    kind("quick", "work/quick", f"answered failed {AWAY}", 6),
    kind("parts", "work/parts", f"answered failed {AWAY}", 2),
    kind("fails", "work/fails", f"failed {AWAY}", 2),
    kind("retry", "work/retry", "answered", 4, terms=(("slipring-retry", "16"), WAIT)),
    kind("plain", "plain/quick", f"answered {AWAY}", 2),
    kind("stored", "later/quick", "answered", 2, terms=(WAIT,)),
    kind("short", "nobody/short", "timed-out", 1, terms=(WAIT,), timeouts_s=(0.05, 4)),
    kind("late", "work/silent", f"timed-out failed {AWAY}", 1, timeouts_s=(0.05, 4)),
    kind("cancel", "work/silent", f"cancelled failed {AWAY}", 1, is_cancelled=True),
    kind("withdrawn", "nobody/wait", "cancelled", 1, terms=(WAIT,), is_cancelled=True),
    kind("unserved", "nobody/now", "not-delivered", 1),
)
WEIGHTS = [one.weight for one in KINDS]


@dataclass
class Inquiry:
    """One request, as a person with eyes everywhere sees it."""

    correlation: bytes
    kind: InquiryKind
    qos: int
    timeout_s: float
    sends: int = 0
    """How often the asker has sent it; at QoS 1 each can become a request of its own."""
    ends: list[str] = field(default_factory=list)
    told: Counter[tuple[int, str, bytes]] = field(default_factory=Counter)
    """How often the asker was told each end on each of its connections, with its payload."""
    ended_at: int | None = None
    takers: dict[str, list[str]] = field(default_factory=dict)
    """The services that got it, for each of its keys."""

    def __str__(self) -> str:
        name = f"{self.correlation.decode()} ({self.kind.name}, QoS {self.qos})"
        told = [f"{end} {times} times on {at}" for (at, end, _), times in self.told.items()]
        return f"{name}: sent {self.sends} times, told {told}, taken {self.takers}"

    @property
    def is_over(self) -> bool:
        return bool(self.ends)

    @property
    def ends_max(self) -> int:
        return 1 if self.qos == 2 else self.sends


class Inquiries:
    """All requests; a count of events is the clock of the run."""

    def __init__(self, choice: Random) -> None:
        self.choice = choice
        self.all: dict[bytes, Inquiry] = {}
        self.now = 0
        self.open = 0
        self.wrong: list[str] = []

    def ask(self, correlation: bytes, qos: int) -> Inquiry:
        """A new one, of a kind that chance chooses."""
        chosen = self.choice.choices(KINDS, WEIGHTS)[0]
        timeout_s = self.choice.uniform(*chosen.timeouts_s)
        made = Inquiry(correlation, chosen, qos, timeout_s)
        self.all[correlation] = made
        self.open += 1
        return made

    def told(self, correlation: bytes, status: str, payload: bytes, connection: int) -> None:
        """The asker got a message about a request, which QoS 2 did not know to be a repetition.

        At QoS 1 the same message comes again on a later connection, if its acknowledgement was
        lost with a broker: there it is a further end only if it comes more often than before.
        """
        inquiry = self.all[correlation]
        if status == "part":
            if inquiry.is_over and inquiry.sends == 1:
                self.wrong.append(f"a part after the end: {inquiry}")
            return
        known = [times for (_, *end), times in inquiry.told.items() if end == [status, payload]]
        inquiry.told[connection, status, payload] += 1
        times = inquiry.told[connection, status, payload]
        if inquiry.qos == 1 and times <= max(known, default=0):
            return
        self.open -= not inquiry.is_over
        inquiry.ends.append(status)
        inquiry.ended_at = self.now

    def taken(self, correlation: bytes, key: str, service: str, settled: int) -> None:
        """A service got a request for the first time. What it gets now was sent after `settled`."""
        inquiry = self.all[correlation]
        ended_at = inquiry.ended_at
        if ended_at is not None and ended_at < settled and inquiry.sends == 1:
            self.wrong.append(f"{service} got it after its end: {inquiry}")
        inquiry.takers.setdefault(key, []).append(service)

    def verdict(self) -> list[str]:
        """All that is wrong at the end of a run."""
        found = list(self.wrong)
        for inquiry in self.all.values():
            found += [f"{fault}: {inquiry}" for fault in faults(inquiry)]
        return found

    def summary(self) -> str:
        ends = Counter((one.kind.name, end) for one in self.all.values() for end in one.ends)
        return ", ".join(f"{name} {end} {times}" for (name, end), times in sorted(ends.items()))


def faults(inquiry: Inquiry) -> list[str]:
    """What is wrong with one request at the end of a run."""
    found = []
    if not inquiry.ends:
        found.append("no end")
    if len(inquiry.ends) > inquiry.ends_max:
        found.append("more ends than requests")
    if not set(inquiry.ends) <= inquiry.kind.ends:
        found.append("an end that cannot be")
    is_retried = inquiry.kind.name == "retry"
    # One that may be computed again can reach a service before the journal has it: see handing.rs.
    if len(inquiry.takers) > (inquiry.sends if is_retried else inquiry.ends_max):
        found.append("more keys than requests")
    if not is_retried and any(len(services) > 1 for services in inquiry.takers.values()):
        found.append("computed twice without a retry")
    return found
