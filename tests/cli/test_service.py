"""The service of systemd: what it is told, what it may do, and how it is installed."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from slipring.cli.service_installation import ServiceInstallation
from slipring.cli.service_unit import ServiceUnit
from slipring.errors import InstallError
from tests.cli.commands import command, slipring
from tests.cli.sandbox import read_unit
from tests.running_broker import PATIENCE_S, READY, RunningBroker

SANDBOX = Path(__file__).with_name("sandbox.py")
PROGRAM = PurePosixPath("/opt/slipring/bin/slipring")
EXPOSURE_MAX = 1.5
"""Of 10, as `systemd-analyze security` counts; a service without a sandbox has 9.6."""


@pytest.fixture
def image(tmp_path: Path) -> ServiceInstallation:
    """A root folder of another machine."""
    return ServiceInstallation(tmp_path / "image")


@pytest.fixture
def notified(tmp_path: Path) -> Iterator[socket.socket]:
    """What listens for a service, as systemd does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(PATIENCE_S)
        yield listening


def test_a_broker_tells_systemd_that_it_is_ready_reads_again_and_stops(
    tmp_path: Path, notified: socket.socket
) -> None:
    config = tmp_path / "broker.toml"
    config.write_text('name = "told"\n')
    environment = os.environ | {"NOTIFY_SOCKET": notified.getsockname()}
    running = RunningBroker.start(
        tmp_path / "data", "--config", str(config), environment=environment
    )
    address = f"{running.host}:{running.port}"
    assert notified.recv(4096).decode().splitlines() == [
        "READY=1",
        f"STATUS=Serving MQTT at {address}",
    ]
    running.process.send_signal(signal.SIGHUP)
    assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", notified.recv(4096).decode())
    assert notified.recv(4096) == b"READY=1"
    code, errors = running.stop()
    assert code == 0, errors
    assert notified.recv(4096) == b"STOPPING=1"


def test_a_broker_serves_within_the_sandbox_of_its_unit(tmp_path: Path) -> None:
    unit = tmp_path / "slipring.service"
    unit.write_text(slipring("service", "show").stdout)
    listen = ("--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0")
    serve = command("serve", *listen, "--data", tmp_path / "data")
    within = [sys.executable, str(SANDBOX), str(unit), *serve]
    pipe = subprocess.PIPE
    with subprocess.Popen(within, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            ready = READY.fullmatch(process.stdout.readline())
            assert ready
            url = f"mqtt://{ready['host']}:{ready['port']}"
            slipring("pub", "--url", url, "--qos", "1", "gripen/39-7/engine/rpm", "5800")
            with urllib.request.urlopen(f"{ready['console']}/", timeout=PATIENCE_S) as page:
                assert page.status == 200
        finally:
            process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors


def test_a_program_that_does_what_the_unit_forbids_is_ended(tmp_path: Path) -> None:
    unit = tmp_path / "slipring.service"
    unit.write_text(slipring("service", "show").stdout)
    for forbidden in (
        "import os; os.chroot('/')",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "import mmap; mmap.mmap(-1, 4096, prot=7)",
    ):
        within = [sys.executable, str(SANDBOX), str(unit), sys.executable, "-c", forbidden]
        done = subprocess.run(within, capture_output=True, check=False)
        assert done.returncode == -signal.SIGSYS, forbidden


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "slipring.service"
    unit.write_text(slipring("service", "show", "--program", "/bin/true").stdout)
    verify = ["systemd-analyze", "verify", "--man=no", str(unit)]
    verified = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stdout) == (0, ""), verified.stderr
    assert str(unit) not in verified.stderr
    secure = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    shown = subprocess.run(secure, capture_output=True, text=True, check=True).stdout
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", shown)
    assert exposure, shown
    assert float(exposure[1]) <= EXPOSURE_MAX


def test_an_image_gets_unit_user_and_a_config_that_stays(image: ServiceInstallation) -> None:
    unit = ServiceUnit(PROGRAM)
    told = image.install(unit)
    assert [line.partition(" ")[0] for line in told] == ["wrote", "wrote", "wrote"]
    written = image.root / "etc" / "systemd" / "system" / "slipring.service"
    assert read_unit(written.read_text())["ExecStart"] == [
        "/opt/slipring/bin/slipring serve --config /etc/slipring/broker.toml"
    ]
    config = image.root / "etc" / "slipring" / "broker.toml"
    slipring("config", "--check", config)
    config.write_text('name = "mine"\n')
    assert image.install(unit)[-1] == f"kept {config}"
    assert config.read_text() == 'name = "mine"\n'
    image.uninstall()
    assert not written.exists()
    assert config.exists()
    with pytest.raises(InstallError, match=r"there is no .*slipring\.service: nothing is removed"):
        image.uninstall()


@pytest.mark.parametrize("program", ["/home/anna/venv/bin/slipring", "/root/.venv/bin/slipring"])
def test_a_program_that_the_service_cannot_see_is_refused(
    image: ServiceInstallation, program: str
) -> None:
    with pytest.raises(InstallError, match=r"which the service cannot see; install .* /opt/"):
        image.install(ServiceUnit(PurePosixPath(program)))
    assert not image.root.exists()


def test_a_unit_of_a_package_or_a_person_is_left_alone(image: ServiceInstallation) -> None:
    theirs = image.root / "lib" / "systemd" / "system" / "slipring.service"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("[Service]\n")
    with pytest.raises(InstallError, match="a package has"):
        image.install(ServiceUnit(PROGRAM))
    theirs.unlink()
    written = image.root / "etc" / "systemd" / "system" / "slipring.service"
    written.parent.mkdir(parents=True)
    written.write_text("[Service]\n")
    with pytest.raises(InstallError, match="written by somebody else"):
        image.install(ServiceUnit(PROGRAM))
    with pytest.raises(InstallError, match="written by somebody else"):
        image.uninstall()
    assert written.read_text() == "[Service]\n"


def test_a_machine_without_systemd_is_told_what_to_do_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(InstallError, match="does not run systemd; `slipring service show`"):
        ServiceInstallation().install(ServiceUnit(PROGRAM))


def test_special_letters_in_a_path_reach_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "a b%c"
    unit = ServiceUnit(PurePosixPath(folder / "slipring"), PurePosixPath("/etc/$x.toml"))
    (start,) = read_unit(unit.text)["ExecStart"]
    doubled = str(folder / "slipring").replace("%", "%%")
    assert start == f'"{doubled}" serve --config /etc/$$x.toml'
