"""The folder of rules of a real broker: read again when it changes; bad files change nothing."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipring.control.users import verifier_of
from tests.configured_broker import ConfiguredBroker
from tests.console_answer import answer_now, basic
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S

RULE = '[[access.rule]]\nwho = ["known"]\nallow = ["publish"]\ntopics = ["TOPIC"]\n'
NOT_AUTHORIZED = 0x87
ANNA = {"username": "anna", "password": b"secret"}


def user(name: str) -> str:
    return f"[[user]]\nname = '{name}'\npassword = '{verifier_of('secret', 4096)}'\n"


BOSS = f"{user('boss')}roles = ['administrator']\n"
"""Who asks the console."""


class Folder:
    """A broker with its folder of rules."""

    def __init__(self, folder: Path, boss: str = BOSS) -> None:
        self.path = folder / "access.d"
        self.path.mkdir()
        self.put("10-people.toml", user("anna"))
        self.put("20-rules.toml", RULE.replace("TOPIC", "a"))
        self.broker = ConfiguredBroker(folder, f"[access]\nfolder = 'access.d'\n{boss}")

    def put(self, name: str, text: str, mode: int = 0o600) -> None:
        """Write a file whole, as docs/access.md says."""
        new = self.path / f".{name}"
        new.write_text(text)
        new.chmod(mode)
        new.rename(self.path / name)

    def may(self, peer: RawPeer, topic: str) -> bool:
        peer.send(V5.publish(topic, b"1", qos=1, packet_id=1))
        return peer.packet().reason != NOT_AUTHORIZED

    def wait(self, peer: RawPeer, topic: str, *, is_allowed: bool) -> None:
        end_s = time.monotonic() + PATIENCE_S
        while self.may(peer, topic) != is_allowed:
            assert time.monotonic() < end_s

    def status(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(
            answer_now(f"{self.broker.console}/api/access", basic("boss", "secret"))[1]
        )
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path)
    yield made
    assert made.broker.stop() == 0


def test_a_changed_file_holds_without_a_restart(folder: Folder) -> None:
    with folder.broker.peer("x", **ANNA) as peer:
        assert folder.may(peer, "a")
        assert not folder.may(peer, "b")
        folder.put("20-rules.toml", RULE.replace("TOPIC", "b"))
        folder.wait(peer, "b", is_allowed=True)
        assert not folder.may(peer, "a")
        folder.put("30-more.toml", RULE.replace("TOPIC", "c"))
        folder.wait(peer, "c", is_allowed=True)
        (folder.path / "30-more.toml").unlink()
        folder.wait(peer, "c", is_allowed=False)
    assert "access: 1 rule is new, 1 rule is gone" in folder.broker.line("access: ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no rule and no user"),
        (RULE[:40], "may be cut"),
        ("who = 7\n", "has no rule and no user"),
        (RULE.replace("publish", "pubish").replace("TOPIC", "b"), "access.rule.0.allow.0"),
    ],
)
def test_a_refused_file_changes_nothing_and_is_told_until_it_is_mended(
    folder: Folder, text: str, told: str
) -> None:
    with folder.broker.peer("x", **ANNA) as peer:
        folder.put("20-rules.toml", text)
        line = folder.broker.line("the rules in force stay")
        assert " ERROR access: " in line
        assert told in line
        assert told in str(folder.status()["trouble"])
        assert folder.may(peer, "a")
        assert not folder.may(peer, "b")
        folder.put("20-rules.toml", RULE.replace("TOPIC", "b"))
        folder.wait(peer, "b", is_allowed=True)
        assert folder.status()["trouble"] is None


def test_a_file_that_others_can_write_changes_nothing(folder: Folder) -> None:
    folder.put("20-rules.toml", RULE.replace("TOPIC", "#"), 0o666)
    assert "chmod go-w" in folder.broker.line("the rules in force stay")
    with folder.broker.peer("x", **ANNA) as peer:
        assert not folder.may(peer, "b")


def test_a_folder_that_loses_its_last_user_keeps_the_users(tmp_path: Path) -> None:
    folder = Folder(tmp_path, boss="")
    (folder.path / "10-people.toml").unlink()
    assert "everyone is let in" in folder.broker.line("the rules in force stay")
    with RawPeer(folder.broker.running.host, folder.broker.running.port) as peer:
        assert peer.connect("nobody").reason == NOT_AUTHORIZED
    with folder.broker.peer("x", **ANNA) as peer:
        assert folder.may(peer, "a")
    assert folder.broker.stop() == 0


def test_a_folder_that_is_gone_keeps_the_rules(folder: Folder) -> None:
    folder.path.rename(folder.path.with_name("elsewhere"))
    assert "cannot read" in folder.broker.line("the rules in force stay")
    with folder.broker.peer("x", **ANNA) as peer:
        assert folder.may(peer, "a")


def test_a_new_user_of_a_file_may_connect(folder: Folder) -> None:
    folder.put("30-ben.toml", user("ben"))
    assert "user 'ben' is new" in folder.broker.line("'ben'")
    with folder.broker.peer("x", username="ben", password=b"secret") as peer:
        assert folder.may(peer, "a")
