"""Log servers by TLS: real sockets, with certificates that are trusted and that are not."""

import socket
from pathlib import Path
from threading import Thread

import pytest

from slipring.control.config import load_config
from slipring.errors import ConfigError
from slipring.logs.address import LogServerKind
from slipring.logs.line import LogLine
from slipring.logs.server import LogServer
from slipring.logs.sinks import make_sink
from tests.cli.test_serve import refused, serve
from tests.logs.receivers import make_certificate, stream_server
from tests.logs.test_server import SOURCE, await_figures, record
from tests.running_broker import PATIENCE_S, RunningBroker, kept_address

KINDS = pytest.mark.parametrize("kind", ["gelf", "syslog"])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("papers"), "logs")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of somebody else."""
    return make_certificate(tmp_path_factory.mktemp("papers"), "other")


def started(kind: LogServerKind, address: str, ca: Path | None) -> LogServer:
    return LogServer(f"{kind} {address}", make_sink(kind, address, {}, SOURCE, ca))


def failure_of(address: str, ca: Path | None) -> str:
    """Why a line does not get there."""
    sink = make_sink("gelf", address, {}, SOURCE, ca)
    with pytest.raises(OSError, match="certificate") as raised:
        sink.send([LogLine(0, 20, "x")])
    sink.close()
    return str(raised.value)


@KINDS
def test_a_server_with_a_trusted_certificate_gets_every_line(
    kind: LogServerKind, certificate: Path
) -> None:
    with stream_server(kind, certificate=certificate) as receiver:
        server = started(kind, receiver.address, certificate)
        texts = [f"line {number} ä" for number in range(100)]
        for text in texts:
            server.emit(record(text))
        receiver.until(lambda line: line.text == "line 99 ä")
        assert receiver.texts() == texts
        server.end()
        server.join()
        assert receiver.ended.wait(PATIENCE_S), "it said goodbye (RFC 5425, 4.4)"
        assert len(receiver.connections) == 1, "what TLS itself sends is no end"
    assert (server.figures().sent, server.figures().lost) == (100, 0)


@KINDS
def test_a_server_that_ends_and_starts_again_gets_the_rest(
    kind: LogServerKind, certificate: Path
) -> None:
    with kept_address() as address:
        port = int(address.rpartition(":")[2])
        server = started(kind, f"tls://localhost:{port}", certificate)
        with stream_server(kind, port=port, certificate=certificate) as first:
            server.emit(record("before"))
            first.until(lambda line: line.text == "before")
            first.disconnect()
        server.emit(record("meanwhile"))
        with stream_server(kind, port=port, certificate=certificate) as second:
            second.until(lambda line: line.text == "meanwhile")
            server.end()
            server.join()


@pytest.mark.parametrize("has_ca", [False, True], ids=["the system's authorities", "another"])
def test_a_certificate_that_nobody_trusted_vouches_for_is_refused(
    certificate: Path, other: Path, has_ca: bool
) -> None:
    with stream_server("gelf", certificate=certificate) as receiver:
        told = failure_of(receiver.address, other if has_ca else None)
        assert "its certificate is refused" in told
        assert "name its authority with `ca`" in told
        assert receiver.refused.get(timeout=PATIENCE_S)
        assert receiver.texts() == [], "nothing was sent"


def test_a_certificate_of_another_host_is_refused(certificate: Path) -> None:
    with stream_server("gelf", certificate=certificate) as receiver:
        told = failure_of(receiver.address.replace("localhost", "127.0.0.1"), certificate)
        assert "is refused: IP address mismatch" in told
        assert "name its authority" not in told


def test_a_server_without_tls_is_told_so_and_gets_nothing(certificate: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"tls://localhost:{listening.getsockname()[1]}"
        listening.listen()
        sink = make_sink("syslog", address, {}, SOURCE, certificate)

        def answer() -> None:
            opened, _ = listening.accept()
            with opened:
                opened.recv(4_096)
                opened.sendall(b"220 hello, this is no TLS\r\n")

        answering = Thread(target=answer)
        answering.start()
        with pytest.raises(OSError, match="does not speak TLS"):
            sink.send([LogLine(0, 20, "x")])
        answering.join(PATIENCE_S)


def test_a_failure_is_shown_and_the_lines_wait(certificate: Path, other: Path) -> None:
    with stream_server("gelf", certificate=certificate) as receiver:
        server = started("gelf", receiver.address, other)
        server.emit(record("waits"))
        await_figures(server, lambda now: now.failure is not None)
        figures = server.figures()
        assert "certificate is refused" in str(figures.failure)
        assert (figures.sent, figures.waiting) == (0, 1)
        server.end()
        server.join()


@pytest.mark.parametrize("text", [None, "no certificate"], ids=["absent", "no PEM"])
def test_a_ca_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    ca = tmp_path / "ca.pem"
    if text:
        ca.write_text(text)
    why = "no PEM file" if text else "No such file"
    with pytest.raises(ConfigError, match=f"ca of a log server, .*ca.pem: .*{why}"):
        make_sink("syslog", "tls://localhost:6514", {}, SOURCE, ca)


def test_a_ca_without_tls_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(
        '[[log.server]]\nkind = "gelf"\naddress = "tcp://logs.example:1"\nca = "ca.pem"\n'
    )
    with pytest.raises(ConfigError, match="has no certificate that `ca` could be for"):
        load_config(file)


def test_a_broker_logs_by_tls_and_does_not_start_with_a_missing_ca(
    tmp_path: Path, certificate: Path
) -> None:
    with stream_server("syslog", certificate=certificate) as receiver:
        section = f'[[log.server]]\nkind = "syslog"\naddress = "{receiver.address}"\n'
        file = tmp_path / "broker.toml"
        file.write_text(f'{section}ca = "{certificate}"\n')
        running = RunningBroker.start(tmp_path / "data", "--config", str(file))
        assert running.stop()[0] == 0
        receiver.until(lambda line: "journal" in line.text)
        file.write_text(f'{section}ca = "{tmp_path}/absent.pem"\n')
        told = refused(serve("--config", str(file), "--data", str(tmp_path / "data")))
        assert "absent.pem: No such file" in told
