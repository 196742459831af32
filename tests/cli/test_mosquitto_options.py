"""`slipring pub`, `sub` and `request` take what people type for mosquitto's clients."""

import os
import subprocess
from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest

import slipring
from tests.cli.commands import SLIPRING, run
from tests.running_broker import RunningBroker

PUBLISHERS = (("mosquitto_pub",), (SLIPRING, "pub"))
SUBSCRIBERS = (("mosquitto_sub",), (SLIPRING, "sub"))
WAIT_S = 60


def typed(program: Sequence[str], url: str, *more: str, stdin: str = "") -> tuple[int, str, str]:
    """A program with -h and -p of the broker: its exit code, and what it printed."""
    place = urlsplit(url)
    secret = {"SLIPRING_PASSWORD": "geheim"}  # for -u; Mosquitto's programs do not read it
    command = [*program, "-h", str(place.hostname), "-p", str(place.port), *more]
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        env=os.environ | secret,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("options", "stdin"),
    [
        (("-m", "12034.5"), ""),
        (("-m", "-", "-q", "2"), ""),
        (("-s",), "two words"),
        (("-l",), "only\n"),
        (("-m", "text", "-q", "0", "-i", "publisher-7", "-u", "gripen"), ""),
    ],
)
def test_the_same_options_publish_and_print_the_same(
    options: tuple[str, ...], stdin: str, shared_broker: RunningBroker
) -> None:
    found = set()
    for index, program in enumerate(PUBLISHERS):
        topic = f"same/{index}/{'-'.join(options)}/rpm".replace("+", "")
        sent = typed(program, shared_broker.url, "-t", topic, "-r", *options, stdin=stdin)
        assert sent == (0, "", ""), program
        reader = SUBSCRIBERS[1 - index]  # what one has sent, the other one reads
        shown = typed(
            reader, shared_broker.url, "-t", topic, "-C", "1", "-v", "-q", "1", "-W", "60"
        )
        assert shown[::2] == (0, "")
        found.add(shown[1].replace(topic, "TOPIC"))
    assert len(found) == 1


def test_an_empty_message_clears_what_is_retained(shared_broker: RunningBroker) -> None:
    for index, program in enumerate(PUBLISHERS):
        topic = f"cleared/{index}"
        typed(program, shared_broker.url, "-t", topic, "-r", "-m", "1")
        assert typed(program, shared_broker.url, "-t", topic, "-r", "-n") == (0, "", "")
        typed(program, shared_broker.url, "-t", "cleared/later", "-r", "-m", "2")
        wanted = ("-v", "-C", "1", "-t", topic, "-t", "cleared/later")
        assert typed(SUBSCRIBERS[index], shared_broker.url, *wanted)[1] == "cleared/later 2\n"


def test_a_timeout_ends_with_the_same_code(shared_broker: RunningBroker) -> None:
    codes = [typed(one, shared_broker.url, "-t", "silent/#", "-W", "1")[0] for one in SUBSCRIBERS]
    assert codes == [27, 27]


async def test_a_request_takes_them_too(shared_broker: RunningBroker) -> None:
    place = urlsplit(shared_broker.url)
    where = ("-h", str(place.hostname), "-p", str(place.port))

    async def upper(request: slipring.Request) -> bytes:
        return request.payload.upper()

    async with slipring.connect(shared_broker.url) as bus, bus.serve("text/upper", upper):
        asked = ("request", *where, "-t", "text/upper", "-W", "60", "-q", "1")
        assert await run(*asked, "-m", "rpm") == (0, b"RPM\n", b"")
        assert await run(*asked, "-s", stdin=b"rpm") == (0, b"RPM\n", b"")
        assert await run(*asked, "--file", "-", stdin=b"rpm") == (0, b"RPM\n", b"")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("pub -P geheim -u gripen a b", "--password-file FILE"),
        ("sub --pw geheim -t a", "--password-file FILE"),
        ("pub -t a hello", "goes with --message"),
        ("pub -t a -m b -n", "--message and --null-message"),
        ("pub -h localhost --url mqtt://other a b", "not both"),
        ("pub -h mqtt://localhost a b", "is not a host"),
        ("pub -m b", "give TOPIC"),
        ("sub -C 1", "at least one FILTER"),
        ("sub -v --format json a", "--format text"),
    ],
)
async def test_what_cannot_be_meant_is_refused(arguments: str, words: str) -> None:
    code, out, err = await run(*arguments.split())
    assert (code, out) == (2, b"")
    told = " ".join(err.decode().replace("│", " ").split())
    assert words in told
    assert "geheim" not in told
