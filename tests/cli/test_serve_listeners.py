"""A broker with every kind of listener, as the documentation tells, and clients of others."""

import re
import resource
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from tests.access_rules import ALL
from tests.cli.test_serve import refused, serve
from tests.running_broker import RunningBroker

PAGE = (Path(__file__).parents[2] / "docs" / "listeners.md").read_text()
MAKE_CERTIFICATES, PUBLISH = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
WAIT_S = 60


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates, made as documented."""
    folder = tmp_path_factory.mktemp("papers")
    subprocess.run(["sh", "-ec", MAKE_CERTIFICATES], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def running(tmp_path: Path, papers: Path) -> Iterator[RunningBroker]:
    """A broker like the documented one, on free ports."""
    example = PAGE.split("```toml\n")[1].split("```")[0]
    example = re.sub(r'"(\S+):\d+"', r'"\1:0"', example)
    example = re.sub(r'"(\w+\.(pem|key))"', rf'"{papers}/\1"', example)
    file = tmp_path / "broker.toml"
    file.write_text(example.replace("/run/slipring.sock", str(tmp_path / "mqtt.sock")) + ALL)
    broker = RunningBroker.start(tmp_path / "data", "--config", str(file))
    yield broker
    if broker.process.poll() is None:
        code, errors = broker.stop()
        assert code == 0, errors


class Ear:
    """A client of another make that listens to everything."""

    def __init__(self, client: Client, host: str, port: int) -> None:
        """Connect and subscribe; return once subscribed."""
        self.heard: Queue[str] = Queue()
        self.client = client
        ready: Queue[None] = Queue()
        client.on_connect = lambda client, *_: client.subscribe("#")
        client.on_subscribe = lambda *_: ready.put(None)
        client.on_message = self._hear
        client.connect(host, port)
        client.loop_start()
        ready.get(timeout=WAIT_S)

    def _hear(self, client: Client, user: object, message: MQTTMessage) -> None:
        self.heard.put(f"{message.topic} {message.payload.decode()}")

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def paho(transport: str) -> Client:
    """A client of another make."""
    return Client(CallbackAPIVersion.VERSION2, transport=transport)  # type: ignore[arg-type]


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def test_clients_of_every_transport_hear_a_documented_publish(
    running: RunningBroker, papers: Path
) -> None:
    secure = paho("tcp")
    secure.tls_set(str(papers / "ca.pem"), str(papers / "client.pem"), str(papers / "client.key"))
    ears = [
        Ear(paho("tcp"), running.host, running.port),
        Ear(secure, "localhost", port_of(running.further["secure"])),
        Ear(paho("websockets"), "127.0.0.1", port_of(running.further["web"])),
        Ear(paho("unix"), running.further["local"].removeprefix("unix:"), 1),
    ]
    command = PUBLISH.replace("8883", str(port_of(running.further["secure"])))
    subprocess.run(["sh", "-ec", command], cwd=papers, check=True, timeout=WAIT_S)
    for ear in ears:
        assert ear.heard.get(timeout=WAIT_S) == "gripen/39-7/rpm 5800"
        ear.close()


def test_a_client_without_a_certificate_is_refused_and_told_in_the_log(
    running: RunningBroker, papers: Path
) -> None:
    context = ssl.create_default_context(cafile=str(papers / "ca.pem"))
    address = ("127.0.0.1", port_of(running.further["secure"]))
    with (
        socket.create_connection(address, timeout=WAIT_S) as plain,
        pytest.raises((ssl.SSLError, ConnectionResetError)),
        context.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        secure.recv(1)
    assert "peer sent no certificates" in running.stop()[1]


def test_the_socket_file_is_gone_after_the_end(running: RunningBroker) -> None:
    path = Path(running.further["local"].removeprefix("unix:"))
    assert path.is_socket()
    running.stop()
    assert not path.exists()


def test_without_mqtt_the_first_listener_is_named_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text("[[listener]]\nname = 'only'\nlisten = '127.0.0.1:0'\n")
    broker = RunningBroker.start(tmp_path / "data", "--config", str(file), "--mqtt", "off")
    assert broker.further == {"only": f"{broker.host}:{broker.port}"}
    assert broker.stop()[0] == 0


def test_a_certificate_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(
        "[[listener]]\nname = 'secure'\nlisten = '127.0.0.1:0'\n"
        "certificate = 'no-such.pem'\nkey = 'no-such.key'\n"
    )
    line = refused(serve("--config", str(file), "--mqtt", "127.0.0.1:0", "--data", str(tmp_path)))
    assert "listener 'secure': no-such.pem cannot be read" in line


def test_when_descriptors_run_out_the_others_are_served_and_it_heals(tmp_path: Path) -> None:
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    ear = Ear(paho("tcp"), broker.host, broker.port)
    used = len(list(Path(f"/proc/{broker.process.pid}/fd").iterdir()))
    _, most = resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (used + 3, most))
    strangers = [socket.create_connection((broker.host, broker.port)) for _ in range(20)]
    ear.client.publish("still", "served")
    assert ear.heard.get(timeout=WAIT_S) == "still served"
    for stranger in strangers:
        stranger.close()
    late = Ear(paho("tcp"), broker.host, broker.port)
    ear.client.publish("again", "open")
    assert late.heard.get(timeout=WAIT_S) == "again open"
    for one in (ear, late):
        one.close()
    _, errors = broker.stop()
    assert errors.count("Too many open files") == 1
