"""TLS files of a running broker: read again when they change; what is revoked is ended."""

import asyncio
import shutil
import signal
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import slipring
from tests.access_rules import ALL
from tests.cli.authority import Authority, Certificate
from tests.cli.test_serve import refused, serve
from tests.running_broker import PATIENCE_S, RunningBroker

LISTENER = """
[[listener]]
name = "{name}"
listen = "127.0.0.1:0"
websocket = {websocket}
certificate = "{folder}/server.pem"
key = "{folder}/server.key"
client_ca = "{folder}/clients.pem"
{more}
"""
TRANSPORTS = ["secure", "web"]


@dataclass
class Site:
    """A broker with TLS, and the authorities around it."""

    folder: Path
    authority: Authority
    running: RunningBroker

    def url(self, transport: str) -> str:
        port = self.running.further[transport].rpartition(":")[2]
        return f"{'wss' if transport == 'web' else 'mqtts'}://localhost:{port}"

    def connect(
        self, transport: str, shown: Certificate
    ) -> "slipring.client.connecting.Connecting":
        tls = slipring.Tls(ca=self.authority.file, certificate=shown.certificate, key=shown.key)
        return slipring.connect(self.url(transport), tls=tls, reconnect_s=0)

    def served(self, transport: str) -> str:
        """The common name of the certificate that the broker shows."""
        context = ssl.create_default_context(cafile=str(self.authority.file))
        port = int(self.running.further[transport].rpartition(":")[2])
        with (
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as secure,
        ):
            shown = secure.getpeercert()
            assert shown
            subject = dict(pair[0] for pair in shown["subject"])  # type: ignore[misc]
            return str(subject["commonName"])

    def log_line(self, words: str) -> str:
        """Reads the log up to a line with these words."""
        assert self.running.process.stderr is not None
        for line in self.running.process.stderr:
            if words in line:
                return line
        raise AssertionError(f"the log ended without {words!r}")


def put(shown: Certificate, folder: Path) -> None:
    """Makes it the certificate of the broker; the key first, as a careful tool does."""
    for source, name in ((shown.key, "server.key"), (shown.certificate, "server.pem")):
        new = folder / f"{name}.new"
        shutil.copy(source, new)
        new.chmod(0o600)
        new.replace(folder / name)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.made(tmp_path, "ca")


def start(folder: Path, authority: Authority, more: str) -> Site:
    put(authority.server(), folder)
    shutil.copy(authority.file, folder / "clients.pem")
    listeners = [
        LISTENER.format(name=name, websocket=is_web, folder=folder, more=more)
        for name, is_web in (("secure", "false"), ("web", "true"))
    ]
    file = folder / "broker.toml"
    file.write_text("".join(listeners) + ALL)
    options = ("--console", "off", "--config", str(file))
    return Site(folder, authority, RunningBroker.start(folder / "data", *options))


@pytest.fixture
def site(tmp_path: Path, authority: Authority) -> Iterator[Site]:
    made = start(tmp_path, authority, f'client_crl = ["{authority.revoked}"]')
    yield made
    assert made.running.stop()[0] == 0


async def is_served(bus: slipring.Bus) -> bool:
    try:
        await bus.ping()
    except slipring.ConnectionLost:
        return False
    return True


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_revoked_certificate_ends_its_open_connection_and_opens_no_other(
    site: Site, transport: str
) -> None:
    good, bad = site.authority.sign("/CN=good"), site.authority.sign("/CN=bad")
    async with site.connect(transport, good) as stays:
        goes = await site.connect(transport, bad)
        changes = goes.changes()
        assert await is_served(goes)
        await asyncio.to_thread(site.authority.revoke, bad)
        change = await anext(changes)
        assert not change.connected
        assert "not authorized" in (change.cause or "")
        assert await is_served(stays)
        with pytest.raises(slipring.ConnectError, match="CertificateRevoked"):
            await site.connect(transport, bad)
        async with site.connect(transport, good) as again:
            assert await is_served(again)
        await goes.close()
    assert f"listener '{transport}'" in site.log_line("1 clients are disconnected")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_new_server_certificate_is_shown_to_new_connections_and_open_ones_go_on(
    site: Site, transport: str
) -> None:
    async with site.connect(transport, site.authority.sign("/CN=client")) as stays:
        put(site.authority.server("renewed"), site.folder)
        await asyncio.to_thread(site.log_line, f"'{transport}': certificates read again")
        assert await asyncio.to_thread(site.served, transport) == "renewed"
        assert await is_served(stays)


async def test_a_broken_file_keeps_what_there_was_and_is_told(site: Site) -> None:
    (site.folder / "server.pem").write_text("not a certificate")
    line = await asyncio.to_thread(site.log_line, "keeps what it had")
    assert f"{site.folder}/server.pem has no certificate in it" in line
    async with site.connect("secure", site.authority.sign("/CN=client")) as bus:
        assert await is_served(bus)
    put(site.authority.server("mended"), site.folder)
    await asyncio.to_thread(site.log_line, "'secure': certificates read again")
    assert await asyncio.to_thread(site.served, "secure") == "mended"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_clients_of_an_authority_that_is_gone_are_ended(
    tmp_path: Path, authority: Authority, transport: str
) -> None:
    site = start(tmp_path, authority, "")
    other = Authority.made(tmp_path, "other")
    both = tmp_path / "both.pem"
    both.write_text(authority.file.read_text() + other.file.read_text())
    both.replace(tmp_path / "clients.pem")
    await asyncio.to_thread(site.log_line, "certificates read again")
    async with site.connect(transport, other.sign("/CN=new")) as stays:
        goes = await site.connect(transport, authority.sign("/CN=old"))
        changes = goes.changes()
        shutil.copy(other.file, tmp_path / "clients.pem")
        assert not (await anext(changes)).connected
        assert await is_served(stays)
        await goes.close()
    assert site.running.stop()[0] == 0


async def test_a_signal_reads_the_files_again_too(site: Site) -> None:
    site.running.process.send_signal(signal.SIGHUP)
    assert "'secure'" in await asyncio.to_thread(site.log_line, "certificates read again")


async def test_with_lists_a_certificate_of_an_authority_without_one_is_refused(
    tmp_path: Path, authority: Authority
) -> None:
    other = Authority.made(tmp_path, "other")
    site = start(tmp_path, authority, f'client_crl = ["{other.revoked}"]')
    with pytest.raises(slipring.ConnectError, match="certificate"):
        await site.connect("secure", authority.sign("/CN=client"))
    assert site.running.stop()[0] == 0


NAMES = "DNS:a.example,URI:urn:a,email:a@b.example"


@pytest.mark.parametrize(
    ("wanted", "proved"),
    [
        ("auto", "cn"),
        ("cn", "cn"),
        ("san-dns", "a.example"),
        ("san-uri", "urn:a"),
        ("san-email", "a@b.example"),
    ],
)
async def test_the_name_that_counts_is_chosen(
    tmp_path: Path, authority: Authority, wanted: str, proved: str
) -> None:
    site = start(tmp_path, authority, f'client_name = "{wanted}"')
    rule = (
        f"\n[[access.rule]]\nwho = ['user:{proved}']\nallow = ['publish']\ntopics = ['only/me']\n"
    )
    file = tmp_path / "broker.toml"
    file.write_text(file.read_text().replace(ALL, rule))
    site.running.process.send_signal(signal.SIGHUP)
    await asyncio.to_thread(site.log_line, "access")
    async with site.connect("secure", authority.sign("/CN=cn", NAMES)) as bus:
        await bus.publish("only/me", b"", qos=1)
        with pytest.raises(slipring.PublishRefused):
            await bus.publish("only/others", b"", qos=1)
    async with site.connect("secure", authority.sign("/CN=other", "DNS:b,DNS:c")) as bus:
        with pytest.raises(slipring.PublishRefused):
            await bus.publish("only/me", b"", qos=1)
    assert site.running.stop()[0] == 0


def test_a_key_that_others_can_read_is_refused_with_what_mends_it(
    tmp_path: Path, authority: Authority
) -> None:
    put(authority.server(), tmp_path)
    (tmp_path / "server.key").chmod(0o644)
    shutil.copy(authority.file, tmp_path / "clients.pem")
    file = tmp_path / "broker.toml"
    file.write_text(LISTENER.format(name="secure", websocket="false", folder=tmp_path, more=""))
    line = refused(serve("--config", str(file), "--mqtt", "127.0.0.1:0", "--data", str(tmp_path)))
    assert "listener 'secure'" in line
    assert f"run: chmod 600 {tmp_path}/server.key" in line
