"""The Debian package: what is in it, what it says of itself, and that it runs."""

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from scripts.man_pages import man_pages
from slipring import __version__
from tests.cli.commands import slipring
from tests.running_broker import PATIENCE_S, READY
from tests.wheel.made import ROOT, made

HOME = "usr/lib/slipring"
SERVICE = "usr/lib/systemd/system/slipring.service"
CONFIG = "/etc/slipring/broker.toml"
SCRIPTS = ("postinst", "prerm", "postrm")


@pytest.fixture(scope="module")
def deb() -> Path:
    return made("deb", "*.deb")


@pytest.fixture(scope="module")
def root(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the package, with this machine's Python, which need not be Debian's."""
    folder = tmp_path_factory.mktemp("deb") / "root"
    told("dpkg-deb", "--extract", deb, folder)
    python = Path(os.path.realpath(sys.executable))
    link = folder / HOME / "bin" / "python"
    link.unlink()
    link.symlink_to(python)
    (folder / HOME / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
    return folder


def told(*command: str | Path) -> str:
    """What a command says, that must not fail."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_it_says_what_it_needs_and_keeps_the_config_of_people(deb: Path, tmp_path: Path) -> None:
    told("dpkg-deb", "--control", deb, tmp_path / "control")
    fields = dict(
        re.findall(r"^(\S+): (.*)$", (tmp_path / "control" / "control").read_text(), re.MULTILINE)
    )
    assert (fields["Package"], fields["Version"]) == ("slipring", __version__)
    needs = fields["Depends"].split(", ")
    assert needs[0] == f"python3.{sys.version_info.minor}"
    assert any(re.fullmatch(r"libc6 \(>= 2\.\d+\)", need) for need in needs)
    assert (tmp_path / "control" / "conffiles").read_text() == f"{CONFIG}\n"
    for script in SCRIPTS:
        file = tmp_path / "control" / script
        assert file.stat().st_mode & 0o777 == 0o755
        told("sh", "-n", file)


CALLED = (
    "systemd-sysusers",
    "install",
    "chown",
    "chmod",
    "deb-systemd-helper",
    "deb-systemd-invoke",
    "systemctl",
)


def configured(tmp_path: Path, earlier: str) -> list[str]:
    """What the package calls when it is set up; earlier is the version that was there."""
    for name in CALLED:
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >> "{tmp_path}/calls"\n')
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    script = ("sh", ROOT / "scripts" / "deb" / "postinst", "configure", earlier)
    subprocess.run(script, env=environment, check=True)
    return (tmp_path / "calls").read_text().splitlines()


@pytest.mark.parametrize(("earlier", "is_enabled"), [("", True), ("0.0.9", False)])
def test_it_is_enabled_when_it_is_new_also_in_an_image_that_is_booted_later(
    tmp_path: Path, earlier: str, *, is_enabled: bool
) -> None:
    """An upgrade leaves that to people. Whether this machine has a systemd makes no difference."""
    calls = configured(tmp_path, earlier)
    assert ("deb-systemd-helper enable slipring.service" in calls) == is_enabled
    assert not [one for one in calls if "try-restart" in one], "what does not run would stay so"


def test_an_upgrade_goes_on_where_a_person_removed_the_config_file(tmp_path: Path) -> None:
    """It does not come back, and a command about it would fail."""
    about = [call for call in configured(tmp_path, "0.0.9") if CONFIG in call]
    assert bool(about) == Path(CONFIG).exists()


def test_its_files_belong_to_root_and_are_where_debian_wants_them(deb: Path) -> None:
    listed = [line.split(maxsplit=5) for line in told("dpkg-deb", "--contents", deb).splitlines()]
    assert {owner for _, owner, *_ in listed} == {"root/root"}
    assert not [path for mode, *_, path in listed if mode[8] == "w" and mode[0] != "l"]
    paths = {path.removeprefix("./").partition(" -> ")[0] for *_, path in listed}
    for path in (
        "usr/bin/slipring",
        SERVICE,
        "usr/lib/sysusers.d/slipring.conf",
        "etc/slipring/broker.toml",
        "usr/share/man/man1/slipring.1.gz",
        "usr/share/doc/slipring/copyright",
        "usr/share/doc/slipring/changelog.gz",
    ):
        assert path in paths
    assert any(path.endswith("slipring/console/static/index.html") for path in paths)
    below = {path.split("/")[0] for path in paths}
    assert below == {"", "usr", "etc"}


def test_its_unit_is_the_one_that_the_command_shows(root: Path) -> None:
    shown = slipring("service", "show", "--program", "/usr/bin/slipring").stdout
    assert (root / SERVICE).read_text() == shown.partition("\n")[2]
    slipring("config", "--check", root / "etc" / "slipring" / "broker.toml")


def test_each_command_has_a_man_page_that_man_can_show(root: Path) -> None:
    folder = root / "usr" / "share" / "man" / "man1"
    pages = sorted(folder.iterdir())
    names = {name for name, _ in man_pages()}
    assert {page.name for page in pages} == {f"{name}.1.gz" for name in names}
    found = told("lexgrog", *pages)
    assert set(re.findall(r': "(\S+) - \S', found)) == names
    environment = os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
    show = ["man", "--warnings", "--local-file", *map(str, pages)]
    shown = subprocess.run(show, capture_output=True, text=True, env=environment, check=True)
    assert shown.stderr == ""
    assert "slipring access grant role:engineer subscribe,select 'gripen/#'" in shown.stdout


def test_its_broker_serves_the_page_and_messages(root: Path, tmp_path: Path) -> None:
    program = [str(root / HOME / "bin" / name) for name in ("python", "slipring")]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    listen = ("--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0")
    serve = [*program, "serve", *listen, "--data", str(tmp_path / "data")]
    pipe = subprocess.PIPE
    with subprocess.Popen(serve, stdout=pipe, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = READY.fullmatch(process.stdout.readline())
            assert ready
            with urllib.request.urlopen(f"{ready['console']}/", timeout=PATIENCE_S) as page:
                assert b'<script type="module"' in page.read()
            reach = ("--url", f"mqtt://{ready['host']}:{ready['port']}")
            publish = [*program, "pub", *reach, "--retain", "--qos", "1", "engine/rpm", "5800"]
            subprocess.run(publish, env=environment, check=True)
            hear = [*program, "sub", *reach, "--count", "1", "engine/#"]
            heard = subprocess.run(hear, env=environment, stdout=pipe, text=True, check=True)
            assert "5800" in heard.stdout
        finally:
            process.terminate()
    assert process.returncode == 0
