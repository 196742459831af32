"""How long a change of rights takes beside 100,000 rules, and what waits. Asserts nothing.

`make bench ARGS=rights` runs it. It replaces its part of benches/RESULTS.md. A real broker has
100,000 rules in ten files; a client sends itself messages all the time, and another asks the
console whether it is alive. Both note the longest wait while rights change.
"""

import json
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from benches.results import machine, record
from slipring.control.users import verifier_of
from tests.console_answer import basic
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.running_broker import RunningBroker

RULES, FILES, ROUNDS = 100_000, 10, 5
WAIT_S = 120
NOT_AUTHORIZED = 0x87
RULE = """[[access.rule]]
who = ["user:truck-{at}"]
allow = ["publish", "subscribe"]
topics = ["fleet/truck-{at}/%c/#"]
"""
MINE = '[[access.rule]]\nwho = ["known"]\nallow = ["publish", "subscribe"]\ntopics = ["{}"]\n'


class Waits:
    """Does something all the time, and notes the longest that it took."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self._is_over = False
        self._failure: Exception | None = None
        # Held for a moment, so that no wait is lost between two questions.
        self._lock = threading.Lock()
        self._longest_s = 0.0
        self._began_s = time.perf_counter()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_over:
            with self._lock:
                self._began_s = time.perf_counter()
            try:
                self._act()
            except Exception as error:  # noqa: BLE001 (told at the end)
                self._failure = error
                return
            with self._lock:
                self._longest_s = max(self._longest_s, time.perf_counter() - self._began_s)

    def longest_ms(self) -> float:
        """The longest since the last question; one that is not over yet counts as it is now."""
        with self._lock:
            longest_s = max(self._longest_s, time.perf_counter() - self._began_s)
            self._longest_s = 0.0
        return longest_s * 1_000

    def end(self) -> None:
        """Do it no more."""
        self._is_over = True
        self._thread.join()
        if self._failure:
            raise self._failure


def write(folder: Path) -> None:
    """The rules, and one user."""
    folder.mkdir()
    each = RULES // FILES
    for file in range(FILES):
        rules = "".join(RULE.format(at=at) for at in range(file * each, (file + 1) * each))
        (folder / f"{file}.toml").write_text(rules)
    (folder / "mine.toml").write_text(MINE.format("traffic"))
    verifier = verifier_of("secret", 4_096)
    people = folder / "people.toml"
    people.touch(0o600)
    people.write_text(
        f"[[user]]\nname = 'anna'\npassword = '{verifier}'\n"
        f"[[user]]\nname = 'olga'\npassword = '{verifier}'\nroles = ['administrator']\n"
    )


def peer(broker: RunningBroker, client: str) -> RawPeer:
    """A client that was let in."""
    made = RawPeer(broker.host, broker.port, deadline_s=WAIT_S)
    assert made.connect(client, username="anna", password=b"secret").reason == 0
    return made


def ask(url: str, body: object = None, method: str | None = None) -> bytes:
    """What the console answers."""
    headers = basic("olga", "secret")
    request = urllib.request.Request(url, headers=headers, method=method)  # noqa: S310 (our own)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:  # noqa: S310
        content: bytes = answer.read()
    return content


def until(made: RawPeer, topic: str, *, is_allowed: bool) -> None:
    """Try until the right is as it should be."""
    while True:
        made.send(V5.publish(topic, b"1", qos=1, packet_id=1))
        if (made.packet().reason != NOT_AUTHORIZED) == is_allowed:
            return


def echo(made: RawPeer) -> None:
    """Send a message, and get it."""
    made.send(V5.publish("traffic", b"1"))
    made.until(Kind.PUBLISH)


def changes(broker: RunningBroker, folder: Path, made: RawPeer) -> Iterator[str]:
    """Make each kind of change, and say which when a client that is connected notices it."""
    rule = {"who": ["user:anna"], "allow": ["publish"], "topics": ["granted"]}
    name = json.loads(ask(f"{broker.console}/api/access/rules", rule))["rule"]
    until(made, "granted", is_allowed=True)
    yield "grant"
    ask(f"{broker.console}/api/access/rules/{name}", method="DELETE")
    until(made, "granted", is_allowed=False)
    yield "revoke"
    file = folder / "filed.toml"
    file.write_text(MINE.format("filed"))
    until(made, "filed", is_allowed=True)
    yield "a small file is new"
    file.unlink()
    until(made, "filed", is_allowed=False)
    yield "a small file is gone"


def measure(folder: Path) -> list[str]:
    """The rows of the table."""
    write(folder / "access.d")
    (folder / "broker.toml").write_text("[access]\nfolder = 'access.d'\n")
    began_s = time.perf_counter()
    broker = RunningBroker.start(folder / "data", "--config", str(folder / "broker.toml"))
    rows = [f"| start with {RULES:,} rules | {time.perf_counter() - began_s:.2f} s | | |"]
    traffic, made = peer(broker, "traffic"), peer(broker, "changes")
    traffic.send(V5.subscribe(1, ("traffic", 0)))
    traffic.until(Kind.SUBACK)
    echoes = Waits(lambda: echo(traffic))
    lives = Waits(lambda: ask(f"{broker.console}/live"))
    try:
        time.sleep(1)
        rows.append(f"| nothing, for a second | | {_both(echoes, lives)} |")
        slowest: dict[str, tuple[float, float, float]] = {}
        for _ in range(ROUNDS):
            began_s = time.perf_counter()
            for kind in changes(broker, folder / "access.d", made):
                took = (time.perf_counter() - began_s, echoes.longest_ms(), lives.longest_ms())
                before = slowest.get(kind, (0.0, 0.0, 0.0))
                slowest[kind] = (
                    max(before[0], took[0]), max(before[1], took[1]), max(before[2], took[2])
                )  # fmt: skip
                began_s = time.perf_counter()
        for kind, (slowest_s, echo_ms, live_ms) in slowest.items():
            rows.append(f"| {kind} | {slowest_s:.2f} s | {echo_ms:.0f} ms | {live_ms:.0f} ms |")
    finally:
        echoes.end()
        lives.end()
        traffic.close()
        made.close()
        broker.stop()
    return rows


def _both(echoes: Waits, lives: Waits) -> str:
    return f"{echoes.longest_ms():.0f} ms | {lives.longest_ms():.0f} ms"


def main() -> None:
    """Measure and record."""
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder))
    head = (
        "| change | until a connected client notices, slowest "
        "| longest wait of a message meanwhile | of the console |\n|---|---|---|---|\n"
    )
    text = "".join(f"{row}\n" for row in rows)
    print(head + text, end="")
    told = f"{machine()}; {RULES:,} rules in {FILES} files, {ROUNDS} rounds, `benches/rights.py`."
    record("rights", f"{told}\n\n{head}{text}")


if __name__ == "__main__":
    main()
