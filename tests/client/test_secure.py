"""How the client authenticates, and whom it trusts: passwords, TLS and Unix sockets (T14)."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import slipring
from tests.access_rules import ALL
from tests.cli.test_serve_listeners import MAKE_CERTIFICATES, port_of
from tests.running_broker import broker_in

AUTHENTICATION = (Path(__file__).parents[2] / "docs" / "authentication.md").read_text()
USER = re.findall(r"^\[\[user\]\]\n.*\n.*\n", AUTHENTICATION, re.MULTILINE)[0]
"""The user `gripen` with the password `pencil`, as documented."""

CONFIG = """
[limits]
packet_bytes = 16777216

[[listener]]
name = "secure"
listen = "127.0.0.1:0"
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"

[[listener]]
name = "mutual"
listen = "127.0.0.1:0"
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"
client_ca = "{folder}/ca.pem"

[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true

[[listener]]
name = "secure-web"
listen = "127.0.0.1:0"
websocket = true
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"

[[listener]]
name = "local"
listen = "unix:{folder}/mqtt.sock"
"""


@dataclass
class Secured:
    """A broker that wants passwords, and the files of its TLS."""

    plain: str
    secure: str
    mutual: str
    web: str
    secure_web: str
    local: str
    papers: Path

    def tls(self, **more: str | Path) -> slipring.Tls:
        return slipring.Tls(ca=self.papers / "ca.pem", **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("papers")
    subprocess.run(["sh", "-ec", MAKE_CERTIFICATES], cwd=folder, check=True, capture_output=True)
    config = CONFIG.format(folder=folder) + USER + ALL
    with broker_in(folder, "--console", "off", config=config) as running:
        yield Secured(
            plain=running.url,
            secure=f"mqtts://localhost:{port_of(running.further['secure'])}",
            mutual=f"mqtts://localhost:{port_of(running.further['mutual'])}",
            web=f"ws://{running.further['web']}/mqtt",
            secure_web=f"wss://localhost:{port_of(running.further['secure-web'])}/any/path",
            local=running.further["local"],
            papers=folder,
        )


async def echo(bus: slipring.Bus, payload: bytes) -> bytes:
    async with bus.subscribe("echo") as messages:
        await bus.publish("echo", payload)
        return (await anext(messages)).payload


@pytest.mark.parametrize("transport", ["plain", "secure", "web", "secure_web", "local"])
@pytest.mark.parametrize("password", ["pencil", b"pencil"])
async def test_a_user_with_a_password_is_let_in_by_every_transport(
    secured: Secured, transport: str, password: str | bytes
) -> None:
    url = getattr(secured, transport)
    tls = secured.tls() if transport.startswith("secure") else None
    async with slipring.connect(url, user="gripen", password=password, tls=tls) as bus:
        assert bus.url == url
        payload = os.urandom(3_000_000)
        assert await echo(bus, payload) == payload


@pytest.mark.parametrize(
    ("user", "password", "words"),
    [
        ("gripen", "pen", r"bad user name or password.*check the user name"),
        ("viggen", "pencil", r"bad user name or password"),
        (None, None, r"not authorized.*give a user name and a password"),
    ],
)
async def test_a_client_that_proves_nothing_is_told_what_is_missing(
    secured: Secured, user: str | None, password: str | None, words: str
) -> None:
    with pytest.raises(slipring.ConnectError, match=words) as error:
        await slipring.connect(secured.plain, user=user, password=password)
    assert password is None or password not in str(error.value)


async def test_a_broker_nobody_vouches_for_is_not_trusted(secured: Secured) -> None:
    with pytest.raises(slipring.ConnectError, match=r"not trusted.*authority.*\(ca\)"):
        await slipring.connect(secured.secure)


async def test_a_websocket_nobody_vouches_for_is_not_trusted(secured: Secured) -> None:
    with pytest.raises(slipring.ConnectError, match=r"not trusted.*authority.*\(ca\)"):
        await slipring.connect(secured.secure_web)


async def test_a_certificate_for_another_name_is_refused(secured: Secured) -> None:
    tls = secured.tls(server_name="broker.example")
    with pytest.raises(slipring.ConnectError, match=r"not for \"broker.example\".*localhost"):
        await slipring.connect(secured.secure, tls=tls)


async def test_the_name_in_the_certificate_can_be_given(secured: Secured) -> None:
    url = secured.secure.replace("localhost", "127.0.0.1")
    tls = secured.tls(server_name="localhost")
    async with slipring.connect(url, tls=tls, user="gripen", password="pencil") as bus:
        await bus.ping()


async def test_a_client_certificate_is_proof_enough(secured: Secured) -> None:
    papers = secured.papers
    tls = secured.tls(certificate=papers / "client.pem", key=papers / "client.key")
    async with slipring.connect(secured.mutual, tls=tls) as bus:
        assert await echo(bus, b"1") == b"1"


async def test_a_missing_client_certificate_is_told(secured: Secured) -> None:
    with pytest.raises(slipring.ConnectError, match=r"this client's certificate.*and its key"):
        await slipring.connect(secured.mutual, tls=secured.tls())


async def test_tls_on_a_port_without_it_is_told(secured: Secured) -> None:
    url = secured.plain.replace("mqtt:", "mqtts:")
    with pytest.raises(slipring.ConnectError, match=r"mqtt:// is without"):
        await slipring.connect(url, tls=secured.tls())


async def test_no_tls_on_a_port_with_it_is_told(secured: Secured) -> None:
    with pytest.raises(slipring.ConnectError, match=r"a port with TLS needs mqtts://"):
        await slipring.connect(secured.secure.replace("mqtts:", "mqtt:"))


async def test_tls_for_an_address_without_it_is_refused(secured: Secured) -> None:
    with pytest.raises(slipring.ConnectError, match=r"write mqtts://"):
        await slipring.connect(secured.plain, tls=secured.tls())


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"ca": "no-such.pem"}, r"no-such.pem cannot be read"),
        ({"ca": "client.key"}, r"client.key has no certificate in it"),
        ({"certificate": "client.pem", "key": "ca.pem"}, r"ca.pem has no private key"),
        ({"certificate": "client.pem", "key": "ca.key"}, r"ca.key is not the key of .*client.pem"),
    ],
)
async def test_a_file_that_cannot_be_used_is_named(
    secured: Secured, files: dict[str, str], words: str
) -> None:
    paths = {name: str(secured.papers / file) for name, file in files.items()}
    tls = slipring.Tls(**paths)
    with pytest.raises(slipring.ConnectError, match=words):
        await slipring.connect(secured.secure, tls=tls)


def test_a_certificate_without_its_key_is_refused() -> None:
    with pytest.raises(ValueError, match="needs its key"):
        slipring.Tls(certificate="client.pem")


async def test_a_socket_that_is_not_there_is_told(tmp_path: Path) -> None:
    url = f"unix:{tmp_path}/none.sock"
    with pytest.raises(slipring.ConnectError, match=rf"{url}: there is no such socket.*serve"):
        await slipring.connect(url)


async def test_a_user_name_that_does_not_fit_is_refused(secured: Secured) -> None:
    with pytest.raises(slipring.ConnectError, match="no null character"):
        await slipring.connect(secured.plain, user="a\0b")


def command(secured: Secured, *arguments: str, **environment: str) -> tuple[int, str]:
    """A command, and what it said on standard error."""
    ended = subprocess.run(
        [str(Path(sys.executable).with_name("slipring")), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=secured.papers,
        start_new_session=True,
        check=False,
    )
    return ended.returncode, ended.stderr


def test_commands_take_the_password_from_a_file_or_the_environment(secured: Secured) -> None:
    (secured.papers / "secret").write_text("pencil\n")
    (secured.papers / "secret").chmod(0o600)
    by_file = ("--user", "gripen", "--password-file", "secret")
    assert command(secured, "pub", "a", "b", "--url", secured.plain, *by_file) == (0, "")
    secure = ("pub", "a", "b", "--url", secured.secure, "--ca", "ca.pem")
    given = {"SLIPRING_USER": "gripen", "SLIPRING_PASSWORD": "pencil"}
    assert command(secured, *secure, **given) == (0, "")
    mutual = ("pub", "a", "b", "--url", secured.mutual, "--ca", "ca.pem")
    assert command(secured, *mutual, "--cert", "client.pem", "--key", "client.key") == (0, "")


def test_a_command_that_cannot_ask_for_the_password_says_how_to_give_it(secured: Secured) -> None:
    code, said = command(secured, "sub", "a", "--url", secured.plain, "--user", "gripen")
    assert code == 1
    assert "--password-file" in said
    assert "SLIPRING_PASSWORD" in said
    assert said.count("\n") == 1


def test_a_command_refuses_a_certificate_without_its_key(secured: Secured) -> None:
    code, said = command(secured, "pub", "a", "b", "--cert", "client.pem")
    assert code == 2
    assert "--key" in said
