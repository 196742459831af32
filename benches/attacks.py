"""What one client can do to the others: attacks on a broker, each in a process of its own.

`python -m benches.attacks NAME ADDRESS` prepares the attack, says "ready" on a line, goes on as
fast as the broker takes it until standard input closes, and prints how much it did as JSON.
"""

import argparse
import asyncio
import itertools
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import slipring
from benches.attacker import Attack, dial, question, repeated, stopped
from tests.fairness.full_broker import deflated as deflated_frame
from tests.mqtt_bytes import properties
from tests.packets import PINGREQ, V5

PARAMETERS = 190_000
DECLARED_AT_ONCE = 10_000
STALLED_CLIENTS = 150
READERS = 20
HALF_CONNECTS = 500
RETAINED = 20_000
FRAME_SAMPLES = 32_768


async def declare(bus: slipring.Bus) -> None:
    """Fill the table."""
    for first in range(0, PARAMETERS, DECLARED_AT_ONCE):
        rows = range(first, first + DECLARED_AT_ONCE)
        await bus.declare("many", {str(number): slipring.Parameter("f32") for number in rows})


def beside_a_full_table(attack: Attack, act: Callable[[], int]) -> int:
    """Do something while somebody has declared very many parameters."""

    async def run() -> int:
        async with slipring.connect("mqtt://{}:{}".format(*attack.address)) as bus:
            await declare(bus)
            return await asyncio.to_thread(act)

    return asyncio.run(run())


def pings(attack: Attack) -> int:
    """PINGREQ after PINGREQ."""
    attack.peer("pings", repeated(PINGREQ))
    return attack.run()


def messages(attack: Attack) -> int:
    """Small messages that nobody wants."""
    attack.peer("messages", repeated(V5.publish("nobody/wants", b"x" * 64)))
    return attack.run()


def journal_flood(attack: Attack) -> int:
    """Messages for the journal, as fast as it takes them."""
    attack.peer("flood", repeated(V5.publish("flood/topic", b"x" * 16_000)))
    return attack.run()


def exactly_once(attack: Attack) -> int:
    """Whole QoS 2 exchanges, one after the other."""
    exchange = (
        packet
        for number in range(1, 500)
        for packet in (
            V5.publish("nobody/wants", b"x" * 64, qos=2, packet_id=number),
            V5.pubrel(number),
        )
    )
    attack.peer("exactly-once", repeated(*exchange))
    return attack.run()


def subscriptions(attack: Attack) -> int:
    """Subscribe to the same filters and unsubscribe, again and again."""
    filters = [f"a/+/{number}/#" for number in range(100)]
    attack.peer("subscriptions", repeated(V5.subscribe(1, *filters), V5.unsubscribe(2, *filters)))
    return attack.run()


def retained(attack: Attack) -> int:
    """`#` subscribed to again and again, with many retained messages behind it."""
    keeper = dial(attack.address, "keeper")
    for number in range(RETAINED):
        keeper.sendall(V5.publish(f"kept/{number}", b"x" * 64, retain=True))
    keeper.sendall(PINGREQ)
    keeper.recv(16)
    attack.peer("retained", repeated(V5.subscribe(1, "kept/#")))
    return attack.run()


def takeovers(attack: Attack) -> int:
    """One client identifier that connects again and again."""
    for number in itertools.count():
        if number == 1:
            print("ready", flush=True)
        dial(attack.address, "twin").close()
        if number and stopped():
            return number
    return 0


def half_connects(attack: Attack) -> int:
    """Connections that send half a CONNECT and go, hundreds at a time."""
    half = V5.connect("half" * 20)[:20]
    count = 0
    print("ready", flush=True)
    while not stopped():
        crowd = [socket.create_connection(attack.address, timeout=60) for _ in range(HALF_CONNECTS)]
        for one in crowd:
            one.sendall(half)
        for one in crowd:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
        count += HALF_CONNECTS
    return count


def stalled(attack: Attack) -> int:
    """Subscribers of a flood that read nothing."""
    for number in range(STALLED_CLIENTS):
        peer = attack.peer(f"stalled-{number}", reads=False)
        peer.socket.send(V5.subscribe(1, "flood/#"))
    attack.peer("flood", repeated(V5.publish("flood/topic", b"x" * 1_000)))
    return attack.run()


def large(attack: Attack) -> int:
    """Messages of a megabyte to many readers."""
    for number in range(READERS):
        attack.peer(f"reader-{number}").socket.send(V5.subscribe(1, "large/#"))
    attack.peer("large", V5.publish("large/topic", b"x" * 1_000_000))
    return attack.run()


def lists(attack: Attack) -> int:
    """Requests for the list of parameters, and their answers read."""
    attack.peer("lists", repeated(question("list", {"filter": "#"})))
    return beside_a_full_table(attack, attack.run)


def unread_lists(attack: Attack) -> int:
    """Requests for the list of parameters, and no answer read."""
    attack.peer("lists", repeated(question("list", {"filter": "#"})), reads=False)
    return beside_a_full_table(attack, attack.run)


def values(attack: Attack) -> int:
    """Requests for the newest values of everything."""
    attack.peer("values", repeated(question("values", {"filter": "#"})))
    return beside_a_full_table(attack, attack.run)


def selections(attack: Attack) -> int:
    """`#` selected again and again at another rate."""
    chosen = [
        V5.subscribe(1, "#", properties=properties(user=("rate", str(rate)))) for rate in (10, 20)
    ]
    attack.peer("selections", repeated(*chosen))
    return beside_a_full_table(attack, attack.run)


def declarations(attack: Attack) -> int:
    """Parameters declared and removed, again and again."""
    rows = [{"name": f"own/{number}", "type": "f64"} for number in range(500)]
    names = [row["name"] for row in rows]
    pair = question("declare", {"parameters": rows}), question("remove", {"names": names})
    attack.peer("declarations", repeated(*pair))
    return beside_a_full_table(attack, attack.run)


def deflated(attack: Attack) -> int:
    """Frames that inflate to very many samples of one parameter."""

    async def declared() -> tuple[int, int]:
        async with slipring.connect("mqtt://{}:{}".format(*attack.address)) as bus:
            one = await bus.declare("bomb", {"x": slipring.Parameter("bool")})
            return (await bus.table()).identity, int(one.indices[0])

    table, index = asyncio.run(declared())
    claim = question("declare", {"parameters": [{"name": "bomb/x", "type": "bool"}]})
    frame = deflated_frame(table, index, FRAME_SAMPLES)
    kind = properties(content_type="application/vnd.slipring.frame")
    peer = attack.peer("deflated")
    peer.socket.send(claim)
    peer.blob = repeated(V5.publish("bomb", frame, properties=kind))
    return attack.run()


def plain_readers(attack: Attack) -> int:
    """Ten readers of all an aircraft sends, one message for each value."""
    for number in range(10):
        attack.peer(f"plain-{number}").socket.send(V5.subscribe(1, "aircraft/#"))
    return attack.run()


@contextmanager
def under_attack(name: str, address: str) -> Iterator[None]:
    """A broker while it is attacked."""
    command = [sys.executable, "-m", "benches.attacks", name, address]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        line = process.stdout.readline()
        assert line == "ready\n", f"the attack {name} does not begin: {line!r}"
        try:
            yield
        finally:
            process.stdin.close()
            process.wait(60)


ATTACKS: Sequence[Callable[[Attack], int]] = (
    pings,
    messages,
    journal_flood,
    exactly_once,
    subscriptions,
    retained,
    takeovers,
    half_connects,
    stalled,
    large,
    lists,
    unread_lists,
    values,
    selections,
    declarations,
    deflated,
    plain_readers,
)


def main() -> None:
    """One attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    by_name = {attack.__name__: attack for attack in ATTACKS}
    parser.add_argument("name", choices=by_name)
    parser.add_argument("address")
    options = parser.parse_args()
    host, _, port = options.address.rpartition(":")
    done = by_name[options.name](Attack((host, int(port))))
    print(json.dumps({"done": done}), flush=True)


if __name__ == "__main__":
    main()
