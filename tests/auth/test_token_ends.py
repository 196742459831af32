"""A token ends, is renewed, is taken back; its connection follows."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.auth.jwt_signer import ISSUER, Signer, claims, jwks
from tests.auth.scram import verifier
from tests.auth.token_peers import (
    ENDED,
    UNPROVED,
    WRONG,
    by_auth,
    by_old_password,
    by_password,
    command,
    ends_with,
    is_in,
    prove_again,
    run_command,
    token_id,
)
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

CONFIG = """
[token]
enabled = true
leeway_s = 0

[[issuer]]
name = "company"
issuer = "{issuer}"
keys = "{folder}/jwks.json"
leeway_s = 0

[[access.rule]]
who = ["role:engineer"]
allow = ["publish", "subscribe"]

[[access.rule]]
who = ["role:reader"]
allow = ["subscribe"]
"""


@dataclass
class Issuing:
    """A broker with keys of its own, and with an issuer whose keys are in a file."""

    broker: RunningBroker
    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "broker.toml"

    def token(self, user: str = "anna", *options: str) -> bytes:
        return self.run("issue", "--user", user, *options).encode()

    def run(self, *arguments: str) -> str:
        return command(self.config, self.broker.data, *arguments)


@pytest.fixture
def issuing(tmp_path: Path) -> Iterator[Issuing]:
    (tmp_path / "broker.toml").write_text(CONFIG.format(folder=tmp_path, issuer=ISSUER))
    (tmp_path / "jwks.json").write_text('{"keys": []}')
    broker = RunningBroker.start(
        tmp_path / "data", "--console", "off", "--config", str(tmp_path / "broker.toml")
    )
    yield Issuing(broker, tmp_path)
    if broker.process.poll() is None:
        code, errors = broker.stop()
        assert code == 0, errors
        assert "Traceback" not in errors


def test_our_own_token_lets_in_until_it_ends(issuing: Issuing) -> None:
    short = issuing.token("anna", "--for", "3s")
    with (
        by_password(issuing.broker, short) as new,
        by_auth(issuing.broker, short) as exchanged,
        by_old_password(issuing.broker, short) as old,
        by_password(issuing.broker, issuing.token("anna", "--for", "1h")) as long,
    ):
        assert all(is_in(peer) for peer in (new, exchanged, old, long))
        assert ends_with(new, ENDED)
        assert ends_with(exchanged, ENDED)
        assert old.closed()  # 3.1.1 has no DISCONNECT from the broker
        assert long.quiet()
    with by_password(issuing.broker, short) as late:
        assert late.packet().reason == WRONG


def test_a_newer_token_of_the_same_user_extends_the_connection(issuing: Issuing) -> None:
    long = issuing.token("anna", "--for", "1h")  # first: a command takes a while on a busy machine
    short = issuing.token("anna", "--for", "3s")
    with by_auth(issuing.broker, short) as renewed, by_auth(issuing.broker, short) as other:
        assert is_in(renewed)
        assert is_in(other)
        answer = prove_again(renewed, long)
        assert (answer.kind, answer.reason) == (Kind.AUTH, 0)
        assert answer.properties["auth_method"] == ("OAUTH2-JWT",)
        assert ends_with(other, ENDED)
        assert renewed.quiet()


def test_a_newer_token_that_ends_sooner_ends_the_connection_sooner(issuing: Issuing) -> None:
    with by_auth(issuing.broker, issuing.token("anna", "--for", "1h")) as peer:
        assert is_in(peer)
        assert prove_again(peer, issuing.token("anna", "--for", "3s")).reason == 0
        assert ends_with(peer, ENDED)


def test_who_proves_another_name_or_nothing_again_has_to_go(issuing: Issuing) -> None:
    for other in (issuing.token("ben"), b"", b"x.y.z", issuing.token("anna")[:-1]):
        with by_auth(issuing.broker, issuing.token("anna")) as peer:
            assert is_in(peer)
            answer = prove_again(peer, other)
            assert (answer.kind, answer.reason) == (Kind.DISCONNECT, UNPROVED)  # MQTT-4.12.1-2
            assert peer.closed()


def test_other_roles_in_a_newer_token_change_the_rights_at_once(issuing: Issuing) -> None:
    engineer = issuing.token("anna", "--role", "engineer")
    with by_auth(issuing.broker, engineer) as peer, by_password(issuing.broker, engineer) as watch:
        assert is_in(peer)
        assert is_in(watch)
        peer.send(V5.subscribe(1, "t"), V5.publish("t", b"1", qos=1, packet_id=1))
        peer.until(Kind.PUBACK, keep=True)
        assert prove_again_after(peer, issuing.token("anna", "--role", "reader")) == 0
        peer.send(V5.publish("t", b"2", qos=1, packet_id=2))
        assert peer.until(Kind.PUBACK)[-1].reason == UNPROVED
        watch.send(V5.publish("t", b"3", qos=1, packet_id=1))
        assert watch.packet().reason == 0
        assert [packet.payload for packet in peer.waiting()] == [b"3"]
        assert prove_again(peer, issuing.token("anna")).reason == 0
        watch.send(V5.publish("t", b"4", qos=1, packet_id=2))
        assert watch.packet().reason in (0, 0x10)
        assert peer.quiet()  # nobody may read any more what it has subscribed to


def prove_again_after(peer: RawPeer, token: bytes) -> int:
    """The answer to AUTH, behind what came before it."""
    peer.waiting()
    return prove_again(peer, token).reason


Revoke = Callable[[Issuing, bytes], None]


def by_id(issuing: Issuing, token: bytes) -> None:
    issuing.run("revoke", token_id(issuing.config, issuing.broker.data, token))


def by_user(issuing: Issuing, _: bytes) -> None:
    issuing.run("revoke", "--user", "anna")


def by_keys(issuing: Issuing, _: bytes) -> None:
    issuing.run("rotate", "--now")


@pytest.mark.parametrize(("revoke", "spares"), [(by_id, True), (by_user, True), (by_keys, False)])
def test_a_token_that_is_taken_back_ends_its_connections(
    issuing: Issuing, revoke: Revoke, spares: bool
) -> None:
    token = issuing.token("anna")
    with (
        by_password(issuing.broker, token) as one,
        by_auth(issuing.broker, token) as other,
        by_password(issuing.broker, issuing.token("ben")) as ben,
    ):
        assert all(is_in(peer) for peer in (one, other, ben))
        revoke(issuing, token)
        assert ends_with(one, UNPROVED)
        assert ends_with(other, UNPROVED)
        assert ben.quiet() if spares else ends_with(ben, UNPROVED)
    with by_password(issuing.broker, token) as again:
        assert again.packet().reason == WRONG


def until_let_in(issuing: Issuing, user: str) -> None:
    """Wait until the broker has read its file again."""
    ends_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends_s:
        with by_password(issuing.broker, b"pencil", user=user) as peer:
            if is_in(peer):
                return
    raise AssertionError(f"{user} is not let in")


def test_the_tokens_of_a_removed_user_end(issuing: Issuing) -> None:
    before = issuing.config.read_text()
    anna, ben = (
        f"[[user]]\nname = '{name}'\npassword = '{verifier('pencil')}'\n"
        for name in ("anna", "ben")
    )
    issuing.config.write_text(before + anna + ben)
    issuing.broker.process.send_signal(1)
    until_let_in(issuing, "anna")
    token = issuing.token("anna")
    with (
        by_password(issuing.broker, token) as removed,
        by_password(issuing.broker, issuing.token("ben")) as other,
    ):
        assert is_in(removed)
        assert is_in(other)
        issuing.config.write_text(before + ben)
        issuing.broker.process.send_signal(1)
        assert ends_with(removed, UNPROVED)
        assert other.quiet()
    with by_password(issuing.broker, token) as again:
        assert again.packet().reason == WRONG


def test_what_was_revoked_stays_revoked_after_a_restart(issuing: Issuing) -> None:
    token = issuing.token("anna")
    by_id(issuing, token)
    assert issuing.broker.stop()[0] == 0
    arguments = ("--console", "off", "--config", str(issuing.config))
    broker = RunningBroker.start(issuing.broker.data, *arguments)
    try:
        with by_password(broker, token) as peer:
            assert peer.packet().reason == WRONG
        with by_password(broker, issuing.token("anna")) as peer:
            assert is_in(peer)
    finally:
        assert broker.stop()[0] == 0


def test_a_rotated_key_checks_on_and_the_new_one_signs(issuing: Issuing) -> None:
    before = issuing.token("anna")
    with by_password(issuing.broker, before) as peer:
        assert is_in(peer)
        issuing.run("rotate")
        after = issuing.token("anna")
        assert before.split(b".")[0] != after.split(b".")[0]
        for token in (before, after):
            with by_password(issuing.broker, token) as other:
                assert is_in(other)
        assert peer.quiet()
    assert len(json.loads(issuing.run("keys"))["keys"]) == 2


def test_keys_in_a_file_rotate_while_clients_are_connected(issuing: Issuing) -> None:
    old, new = (Signer(issuing.folder, "ES256", kid) for kid in ("old", "new"))
    file = issuing.folder / "jwks.json"

    def write(*signers: Signer) -> None:
        fresh = file.with_suffix(".new")
        fresh.write_text(jwks(*signers))
        fresh.replace(file)

    write(old)
    with by_password(issuing.broker, old.token(claims())) as first:
        assert is_in(first)  # the file was read again for it
        write(old, new)
        with by_auth(issuing.broker, new.token(claims())) as second:
            assert is_in(second)
            assert first.quiet()
            write(new)
            assert ends_with(first, UNPROVED)  # its key is trusted no more
            assert second.quiet()
            file.write_text("{")  # damaged: what was read before stays in use
            with by_password(issuing.broker, new.token(claims())) as third:
                assert is_in(third)


def test_an_issuer_that_is_removed_from_the_file_ends_its_connections(issuing: Issuing) -> None:
    signer = Signer(issuing.folder, "EdDSA", "one")
    (issuing.folder / "jwks.json").write_text(jwks(signer))
    with (
        by_password(issuing.broker, signer.token(claims())) as foreign,
        by_password(issuing.broker, issuing.token("anna")) as own,
    ):
        assert is_in(foreign)
        assert is_in(own)
        issuing.config.write_text("[token]\nenabled = true\n")
        issuing.broker.process.send_signal(1)
        assert ends_with(foreign, UNPROVED)
        assert own.quiet()


def test_damaged_or_open_files_of_tokens_never_mean_that_nothing_is_revoked(
    issuing: Issuing,
) -> None:
    token = issuing.token("anna")
    revoked = issuing.broker.data / "tokens" / "revoked.json"
    with by_password(issuing.broker, token) as peer:
        assert is_in(peer)
        by_id(issuing, token)
        assert ends_with(peer, UNPROVED)
    revoked.write_text("")
    said = issuing.broker.process.stderr
    assert said is not None
    assert any("is damaged" in line for line in said)  # until the broker has seen the file
    with by_password(issuing.broker, token) as peer:
        assert peer.packet().reason == WRONG
    assert issuing.broker.stop()[0] == 0
    with pytest.raises(AssertionError, match="is damaged"):
        RunningBroker.start(issuing.broker.data, "--config", str(issuing.config))
    revoked.unlink()
    keys = issuing.broker.data / "tokens" / "keys.json"
    keys.chmod(0o644)
    with pytest.raises(AssertionError, match=f"chmod 600 {keys}"):
        RunningBroker.start(issuing.broker.data, "--config", str(issuing.config))
    assert run_command(issuing.config, issuing.broker.data, "keys").returncode != 0
