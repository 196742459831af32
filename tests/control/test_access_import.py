"""Mosquitto's files as rules: the same clients get the same answers from both brokers."""

import getpass
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipring.control.access_folder import AccessFolder
from slipring.control.access_places import PlacedRule
from slipring.control.mosquitto_access import imported
from slipring.control.users import verifier_of
from tests.cli.commands import slipring
from tests.mosquitto import start_mosquitto
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.running_broker import RunningBroker

ACL = """\
# before the first user: clients without a name
topic read hall/#
topic hall/in

user anna
topic read plant/#
topic write plant/+/set
topic deny plant/secret/#
topic deny hall/1
topic read b c/#
topic readwrite 50%/x

user ben
topic readwrite ben/#
topic %u/ben
topic read $SYS/#

user roams everywhere
topic #

# patterns are for everybody, wherever they stand
pattern write notes/%u/%c
pattern read notes/+/shared-%c
pattern deny notes/%u/secret
pattern open/+
"""
PASSWORDS = "secret"
CLIENTS = {
    "pad": None,
    "c1": "anna",
    "c2": "ben",
    "shared": "roams everywhere",
    "secret": "ben",
}
WORDS = (
    ["hall", "in", "1", "plant", "set", "secret", "notes", "open", "ben", "anna", "x", "50%"],
    ["c1", "c2", "pad", "shared-c1", "shared-pad", "b c", "%u", "", "a"],
)
SEED = 20_261_118
TOPICS = 120
DENIED_BY_PATTERN = "notes/roams everywhere/secret"


def topics() -> list[str]:
    chosen = random.Random(SEED)
    words = [*WORDS[0], *WORDS[0], *WORDS[1]]
    made = {"/".join(chosen.choices(words, k=chosen.randint(1, 3))) for _ in range(TOPICS)}
    told = {
        f"notes/{user}/{last}" for user in ("anna", "ben", "x") for last in ("c1", "c2", "secret")
    }
    more = {"hall/in", "plant/1/set", "plant/secret/1", "notes/x/shared-c1", "50%/x", "%u/ben"}
    return sorted((made | told | more | {"open/x", "ben/1", "plant/1", DENIED_BY_PATTERN}) - {""})


def peer_of(port: int, client: str, user: str | None) -> RawPeer:
    peer = RawPeer("127.0.0.1", port)
    named = {"username": user, "password": PASSWORDS.encode()} if user else {}
    assert peer.connect(client, **named).reason == 0, client
    return peer


def written(port: int) -> set[tuple[str, str]]:
    """What each client may write: which topics it is not refused."""
    allowed = set()
    for client, user in CLIENTS.items():
        for topic in topics():
            # A connection for each: Mosquitto 2.0.11 closes one after a refused message.
            with peer_of(port, client, user) as peer:
                peer.send(V5.publish(topic, b"1", qos=1, packet_id=1))
                if peer.until(Kind.PUBACK)[-1].reason != 0x87:
                    allowed.add((client, topic))
    return allowed


def read(port: int) -> set[tuple[str, str]]:
    """What each client may read: which messages of a client that may write all of them it gets."""
    seen = set()
    with peer_of(port, "writer", "writes") as writer:
        for client, user in CLIENTS.items():
            with peer_of(port, client, user) as peer:
                peer.send(V5.subscribe(1, ("#", 0)))
                peer.until(Kind.SUBACK)
                for topic in topics():
                    writer.send(V5.publish(topic, b"1", qos=1, packet_id=1))
                    assert writer.until(Kind.PUBACK)[-1].reason != 0x87, topic
                came = peer.waiting()
            seen |= {(client, one.topic) for one in came if one.kind is Kind.PUBLISH}
    return seen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("import")
    (made / "acl").write_text(f"{ACL}\nuser writes\ntopic write #\n")
    users = dict.fromkeys(name for name in (*CLIENTS.values(), "writes") if name)
    (made / "passwd").write_text("".join(f"{name}:{PASSWORDS}\n" for name in users))
    subprocess.run(["mosquitto_passwd", "-U", made / "passwd"], check=True)
    return made


@contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    more = f"acl_file {folder}/acl\npassword_file {folder}/passwd\n"
    stays = f"user {getpass.getuser()}\n"  # else it becomes one who cannot read the folder
    process, port = start_mosquitto(folder, more + stays)
    try:
        yield port
    finally:
        with process:
            process.terminate()


@contextmanager
def ours(folder: Path) -> Iterator[int]:
    done = slipring("access", "import", "--acl", folder / "acl", "--passwords", folder / "passwd")
    rules = folder / "access.d"
    rules.mkdir()
    (rules / "10-mosquitto.toml").write_text(done.stdout)
    verifier = verifier_of(PASSWORDS, 4096)
    names = [line.partition(":")[0] for line in (folder / "passwd").read_text().splitlines()]
    users = "".join(f"[[user]]\nname = '{name}'\npassword = '{verifier}'\n" for name in names)
    config = folder / "broker.toml"
    head = "allow_anonymous = true\n[access]\nfolder = 'access.d'\nwide = 'narrow'\n"
    config.write_text(head + users)
    broker = RunningBroker.start(folder / "data", "--config", str(config), "--console", "off")
    try:
        yield broker.port
    finally:
        assert broker.stop()[0] == 0


def test_the_same_clients_may_do_the_same_as_in_mosquitto(folder: Path) -> None:
    with mosquitto(folder) as port:
        theirs = written(port), read(port)
    with ours(folder) as port:
        found = written(port), read(port)
    # The one difference that the command tells of: a pattern that denies wins over everything.
    for allowed in theirs:
        assert ("shared", DENIED_BY_PATTERN) in allowed
        allowed.remove(("shared", DENIED_BY_PATTERN))
    for mine, other in zip(found, theirs, strict=True):
        assert mine - other == set()
        assert other - mine == set()
        assert 20 < len(other) < len(CLIENTS) * len(topics()) / 2


def rules_of(toml: str, folder: Path) -> tuple[PlacedRule, ...]:
    (folder / "x.toml").write_text(toml)
    return AccessFolder().read(folder).rules


def test_what_cannot_be_taken_over_is_told_line_by_line(tmp_path: Path) -> None:
    found = imported(
        "user anna\ntopic read a/#/b\ntopic sometimes a\nnonsense\nuser anna\npattern deny x/%u\n"
        "topic a\n",
        "anna:$7$101$c2FsdA==$aGFzaA==\nben c:$6$c2FsdA==$aGFzaA==\nnobody\n# comment\n\nx:plain\n",
    )
    told = "\n".join(found.notes)
    assert "line 2 is not taken over: 'a/#/b'" in told
    assert "line 3 is not taken over: 'sometimes'" in told
    assert "line 4 is not taken over" in told
    assert "a pattern denies: here it also wins" in told
    assert "password of 'anna' is not taken over: a PBKDF2-SHA512 hash cannot become" in told
    assert "slipring access users add 'ben c'" in told
    assert "line 3 of the password file" in told
    for secret in ("aGFzaA==", "plain\n", "c2FsdA=="):
        assert secret not in told + found.toml
    rules = rules_of(found.toml, tmp_path)
    assert [(rule.who, rule.allow, rule.deny, rule.topics) for rule in rules] == [
        (("anyone",), (), ("all",), ("x/%u",)),
        (("user:anna",), ("publish", "retain", "subscribe"), (), ("a",)),
    ]


def test_a_percent_sign_means_the_same_in_both(tmp_path: Path) -> None:
    found = imported("topic 50%/%u\npattern 50%/%u/%c%%c\n")
    rules = rules_of(found.toml, tmp_path)
    assert [rule.topics for rule in rules] == [("50%%/%%u",), ("50%%/%u/%c%%%c",)]


REFUSED = (
    "\ttopic tabbed", "topic\tread x", "user", "user  ", "user\tben", "topic", "topic ", "pattern",
    "topic read a/#/b", "topic read +a", "topic sometimes a", "topic READ x", "USER ben",
    "  # indented", "topic read x # no comment",
)  # fmt: skip
"""Lines for which Mosquitto refuses the whole file."""
TAKEN = (
    ("  topic  read  b c ", "subscribe", "b c"), ("topic read x\t\v\r", "subscribe", "x"),
    ("topic read", "publish", "read"), ("topic write $SYS/x", "publish", "$SYS/x"),
    ("topic read /", "subscribe", "/"), ('topic read "x"', "subscribe", '"x"'),
)  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_what_mosquitto_refuses_is_left_out_and_told(tmp_path: Path, line: str) -> None:
    text = f"user anna\ntopic first\n{line}\n"
    (tmp_path / "acl").write_text(text)
    (tmp_path / "conf").write_text(
        f"listener 0 {tmp_path}/socket\nallow_anonymous true\nacl_file {tmp_path}/acl\n"
        f"user {getpass.getuser()}\n"
    )
    done = subprocess.run(
        ["mosquitto", "-c", tmp_path / "conf"], capture_output=True, timeout=60, check=False
    )
    assert b"acl_file" in done.stdout + done.stderr
    found = imported(f"{text}topic last\n")
    assert found.notes
    assert found.notes[0].startswith("line 3 is not taken over")
    topics = {topic for rule in rules_of(found.toml, tmp_path) for topic in rule.topics}
    assert topics <= {"first", "last"}


@pytest.mark.parametrize(("line", "right", "topic"), TAKEN)
def test_spaces_are_those_of_mosquitto(tmp_path: Path, line: str, right: str, topic: str) -> None:
    [rule] = rules_of(imported(f"user anna\n{line}\n").toml, tmp_path)
    assert right in rule.allow
    assert rule.topics == (topic,)


def test_topics_after_a_broken_line_of_a_user_are_not_given_to_the_one_before() -> None:
    found = imported("user anna\ntopic a\nuser\ntopic readwrite #\nuser ben\ntopic b\n")
    assert '"#"' not in found.toml
    assert "line 4 is not taken over: it is not certain whose it is" in found.notes
    assert '"b"' in found.toml


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """Elsewhere a comment with a carriage return in it would become a rule."""
    (tmp_path / "acl").write_bytes(b"# old:\rtopic readwrite #\r\nuser anna\r\ntopic read a\r\n")
    done = slipring("access", "import", "--acl", tmp_path / "acl")
    [rule] = rules_of(done.stdout, tmp_path)
    assert (rule.who, rule.allow, rule.topics) == (("user:anna",), ("subscribe",), ("a",))


def test_what_is_told_of_a_file_sends_no_codes_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "acl").write_bytes(b"\x1b[2Jnonsense\nuser anna\ntopic a\xff\n")
    (tmp_path / "passwd").write_bytes(b"b\xffd:$6$c2FsdA==$aGFzaA==\n")
    done = slipring(
        "access", "import", "--acl", tmp_path / "acl", "--passwords", tmp_path / "passwd"
    )
    assert "\x1b" not in done.stderr
    assert "line 3 is not taken over" in done.stderr
