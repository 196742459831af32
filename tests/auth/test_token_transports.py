"""Tokens by every transport: TCP, TLS, WebSocket, Unix sockets; and beside a client certificate."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import slipring
from tests.auth.jwt_signer import ISSUER, Signer, claims, jwks
from tests.cli.test_serve_listeners import MAKE_CERTIFICATES, port_of
from tests.running_broker import RunningBroker, broker_in

CONFIG = """
[[issuer]]
name = "company"
issuer = "{issuer}"
keys = "{folder}/jwks.json"

[[access.rule]]
who = ["user:anna"]
allow = ["publish", "subscribe"]
topics = ["of/%u"]

[[listener]]
name = "secure"
listen = "127.0.0.1:0"
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"

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
class Reached:
    """A broker with every transport."""

    broker: RunningBroker
    folder: Path
    signer: Signer

    def url(self, transport: str) -> str:
        further = self.broker.further
        return {
            "plain": self.broker.url,
            "secure": f"mqtts://localhost:{port_of(further['secure'])}",
            "web": f"ws://{further['web']}/mqtt",
            "secure-web": f"wss://localhost:{port_of(further['secure-web'])}/mqtt",
            "local": further["local"],
        }[transport]


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reached]:
    folder = tmp_path_factory.mktemp("transports")
    subprocess.run(["sh", "-ec", MAKE_CERTIFICATES], cwd=folder, check=True, capture_output=True)
    signer = Signer(folder, "ES256", "one")
    (folder / "jwks.json").write_text(jwks(signer))
    config = CONFIG.format(folder=folder, issuer=ISSUER)
    with broker_in(folder, "--console", "off", config=config) as broker:
        yield Reached(broker, folder, signer)


@pytest.mark.parametrize("transport", ["plain", "secure", "web", "secure-web", "local"])
async def test_a_token_lets_in_by_every_transport_and_a_wrong_one_does_not(
    reached: Reached, transport: str
) -> None:
    tls = slipring.Tls(ca=reached.folder / "ca.pem") if "secure" in transport else None
    url, token = reached.url(transport), reached.signer.token(claims())
    async with (
        slipring.connect(url, user="anna", password=token, tls=tls) as bus,
        bus.subscribe("of/anna") as messages,
    ):
        await bus.publish("of/anna", b"1")
        assert (await anext(messages)).payload == b"1"
    ended = reached.signer.token(claims(lasts_s=-60))
    with pytest.raises(slipring.ConnectError, match="bad user name or password"):
        await slipring.connect(url, user="anna", password=ended, tls=tls)
