"""One address or one name with wrong passwords does not hold up a login: by order, not by time."""

import select
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.metrics import Metrics
from tests.raw_mqtt import V5, Packet, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

GRANTED, WRONG, BUSY = 0x00, 0x86, 0x89
SLOW = 300_000
"""Iterations that make one check take long, even on a quick machine."""
ATTACKERS = 60


def started(folder: Path, stack: ExitStack, limits: str = "") -> RunningBroker:
    """A broker with two users whose passwords are slow to check, and time for all of them."""
    users = "".join(
        f"[[user]]\nname = '{name}'\npassword = '{verifier(name, iterations=SLOW)}'\n"
        for name in ("anna", "user")
    )
    file = folder / "broker.toml"
    file.write_text(f"[limits]\nconnect_ms = 120_000\n{limits}\n{users}{ALL}")
    broker = RunningBroker.start(folder / "data", "--config", str(file))
    stack.callback(broker.stop)
    return broker


def knock(stack: ExitStack, broker: RunningBroker, name: str, password: str) -> RawPeer:
    """A client that has sent its password and waits."""
    peer = stack.enter_context(RawPeer(broker.host, broker.port, V5, PATIENCE_S))
    peer.send(V5.connect(username=name, password=password.encode()))
    return peer


@pytest.mark.parametrize("attacked", ["user", "anna", "guessed-{}"])
def test_a_login_is_next_however_many_wrong_passwords_wait(tmp_path: Path, attacked: str) -> None:
    """The attackers have the newcomer's address, and its name, another, or one name each."""
    with ExitStack() as stack:
        broker = started(tmp_path, stack)
        names = [attacked.format(number) for number in range(ATTACKERS)]
        attackers = [knock(stack, broker, name, "wrong") for name in names]
        answered, _, _ = select.select([one.socket for one in attackers], [], [], PATIENCE_S)
        assert answered, "nobody is checked"
        newcomer = knock(stack, broker, "user", "user")
        assert newcomer.packet().reason == GRANTED
        answered, _, _ = select.select([one.socket for one in attackers], [], [], 0)
        assert len(answered) < ATTACKERS // 2, "the newcomer waited for most of the others"


def test_password_checks_more_of_one_address_are_told_to_come_back(tmp_path: Path) -> None:
    with ExitStack() as stack:
        broker = started(tmp_path, stack, "password_checks = 5")
        waiting = [knock(stack, broker, "user", "wrong") for _ in range(ATTACKERS)]
        answers: list[Packet] = [peer.packet() for peer in waiting]
        reasons = [answer.reason for answer in answers]
        assert set(reasons) == {WRONG, BUSY}
        refused = next(answer for answer in answers if answer.reason == BUSY)
        (why,) = refused.properties["reason_string"]
        assert "limits.password_checks" in str(why)
        assert Metrics.of(broker).reached("password_checks") == reasons.count(BUSY)
        assert knock(stack, broker, "anna", "anna").packet().reason == GRANTED
