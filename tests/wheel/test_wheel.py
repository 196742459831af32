"""The wheel as a newcomer installs it: into a fresh environment, with nothing of the checkout."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts.needed_lock import needed_lock
from tests.running_broker import PATIENCE_S, READY
from tests.wheel.made import ROOT, made

NATIVE = "slipring/_native.abi3.so"
NATIVE_BYTES_MAX = 10_000_000
DEMO_S = 3


@dataclass
class Installed:
    """A virtual environment with the wheel and what it needs."""

    folder: Path
    work: Path

    def command(self, *arguments: str) -> list[str]:
        return [str(self.folder / "bin" / "slipring"), *arguments]

    @property
    def environment(self) -> dict[str, str]:
        """That of a person who has only this one on the path, and no Java."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        no_java = {"JAVA_HOME": str(self.folder / "java")}
        return kept | no_java | {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"}

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def refused(self, *arguments: str) -> str:
        """The one line that says why a command did not do it."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE_S,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    @contextlib.contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        pipe = subprocess.PIPE
        command = self.command(*arguments)
        with subprocess.Popen(
            command, cwd=self.work, env=self.environment, stdout=pipe, stderr=pipe, text=True
        ) as process:
            try:
                yield process
            finally:
                process.terminate()

    @contextlib.contextmanager
    def broker(self, *arguments: str) -> Iterator[tuple[str, str]]:
        """The addresses of a broker and its console."""
        listen = ("--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0")
        with self.started("serve", *listen, *arguments) as process:
            assert process.stdout is not None
            ready = READY.fullmatch(process.stdout.readline())
            assert ready
            yield f"mqtt://{ready['host']}:{ready['port']}", ready["console"]


@pytest.fixture(scope="module")
def wheel() -> Path:
    """What a newcomer installs."""
    return made("wheel", "*.whl")


@pytest.fixture(scope="module")
def sdist() -> Path:
    """What somebody gets whose machine no wheel is for."""
    return made("sdist", "*.tar.gz")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """From what is downloaded already; the versions are the locked ones."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    python = str(folder / "venv" / "bin" / "python")
    locked = folder / "needed.lock"
    locked.write_text(needed_lock())
    install = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python]
    subprocess.run([*install, "--require-hashes", "--requirement", locked], check=True)
    subprocess.run([*install, wheel], check=True)
    subprocess.run([uv, "pip", "check", "--quiet", "--python", python], check=True)
    (folder / "work").mkdir()
    return Installed(folder / "venv", folder / "work")


def test_it_has_every_file_of_the_package_and_the_page(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        native = archive.read(NATIVE)
    assert listed("python") <= {f"python/{name}" for name in held}
    assert "slipring/console/static/index.html" in held
    assert any(name.endswith(".js") for name in held)
    assert not [name for name in held if name.endswith(".pyc") or name.startswith("tests/")]
    assert len(native) < NATIVE_BYTES_MAX
    assert b"\0.debug_line\0" not in native
    assert b"\0.symtab\0" not in native


def test_the_sdist_has_all_that_a_build_reads_and_the_page(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [Path(name).parts for name in archive.getnames()]
        held = {"/".join(rest) for _, *rest in names}
        (top,) = {first for first, *_ in names}
        project = archive.extractfile(f"{top}/pyproject.toml")
        assert project is not None
        build = tomllib.loads(project.read().decode())["build-system"]
    crates = {f"crates/{name}" for name in crates_of("slipring-python")}
    read = {file for folder in ("python", *crates) for file in listed(folder)}
    assert read - held == set()
    assert {"Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "PKG-INFO"} <= held
    assert "python/slipring/console/static/index.html" in held
    assert not [name for name in held if name.endswith((".so", ".pyc")) or ".build" in name]
    assert build["build-backend"] == "maturin"


def listed(folder: str) -> set[str]:
    """What is under version control there."""
    command = ["git", "ls-files", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def crates_of(name: str) -> set[str]:
    """The folders of a crate of ours and of those that it is built from."""
    folder = name.removeprefix("slipring-")
    manifest = tomllib.loads((ROOT / "crates" / folder / "Cargo.toml").read_text())
    needs = [need for need in manifest["dependencies"] if need.startswith("slipring-")]
    return {folder}.union(*map(crates_of, needs))


def test_a_broker_serves_its_page_and_messages(installed: Installed) -> None:
    with installed.broker() as (url, console):
        page = _fetched(f"{console}/")
        script = re.search(r'src="\.?/?(assets/[^"]+\.js)"', page)
        assert script, page
        assert _fetched(f"{console}/{script[1]}")
        installed.run("pub", "--url", url, "--retain", "gripen/39-7/engine/rpm", "12034.5")
        heard = installed.run("sub", "--url", url, "--count", "1", "gripen/#")
        assert "12034.5" in heard
        assert "messages" in installed.run("status", console)
        told = installed.run(
            "replay", "--url", url, "--filter", "gripen/#", "--to-topic", "again/{topic}"
        )
        assert told.startswith("1 message in ")


def test_the_demo_flies_without_spark_and_says_what_the_lake_needs(installed: Installed) -> None:
    free = ("--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0")
    told = installed.run("demo", "--seconds", str(DEMO_S), "--data", "demo", *free)
    assert "lake      none: the pipeline needs pyspark: install it with pip install" in told
    assert "; Spark needs Java 17 or newer, and JAVA_HOME is " in told
    assert "apt-get install openjdk-17-jre-headless" in told
    done = re.search(
        r"done: ([\d,]+) samples published, ([\d,]+) messages journaled, no lake", told
    )
    assert done, told
    # README's line about a replay, for what the demo recorded.
    chosen = ("--filter", "gripen/#", "--to-topic", "again/{topic}", "--speed", "max")
    with installed.broker("--data", "other") as (url, _):
        played = installed.run("replay", "demo", "--url", url, *chosen)
    assert re.match(r"[\d,]+ messages with [\d,]+ samples of 20,\d{3} parameters in ", played)
    assert played.endswith("; 0 not acknowledged\n")


def _fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        content: str = answer.read().decode()
    return content


def test_what_needs_more_packages_says_which_to_install(installed: Installed) -> None:
    for extra, package, *arguments in (
        ("spark", "pyspark", "pipeline", "run", "--once"),
        ("lake", "deltalake", "query", "--lake", "lake", "SELECT 1"),
        ("lake", "deltalake", "plot", "--lake", "lake", "gripen/39-7/engine/egt"),
    ):
        told = installed.refused(*arguments)
        assert f"pip install 'slipring[{extra}]'" in told, told
        assert package in told


def test_a_config_file_is_printed_and_checked_without_spark(installed: Installed) -> None:
    printed = installed.run("config")
    file = installed.work / "broker.toml"
    file.write_text(printed + '\n[pipeline.archive]\nkeep = { samples = "30d" }\n')
    assert installed.run("config", "--check", "broker.toml") == "broker.toml is fine\n"


def test_the_sdist_has_each_file_that_the_compiler_read_and_the_crates_are_found(
    sdist: Path, tmp_path: Path
) -> None:
    """To compile it takes minutes (`make sdist-wheel`). The compiler notes which files it read
    here: with the same bytes, and the crates of the lock file, it makes the same module there.
    """
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (top,) = tmp_path.iterdir()
    read = compiled_from()
    assert len(read) > 400
    assert [one for one in read if (top / one).read_bytes() != (ROOT / one).read_bytes()] == []
    found = {(one["name"], one["version"]) for one in cargo(top, "metadata")["packages"]}
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert found <= {(one["name"], one["version"]) for one in locked}


def compiled_from() -> list[Path]:
    """What cargo noted of the native module that is in the package."""
    target = Path(cargo(ROOT, "metadata", "--no-deps")["target_directory"])
    _, _, noted = (target / "release" / "lib_native.d").read_text().partition(": ")
    files = (Path(one) for one in noted.split())
    return [one.relative_to(ROOT) for one in files if one.is_relative_to(ROOT / "crates")]


def cargo(folder: Path, *command: str) -> dict[str, Any]:
    """What cargo says, without the network."""
    told = ["cargo", *command, "--offline", "--format-version=1"]
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:{Path.home() / '.cargo' / 'bin'}"}
    done = subprocess.run(told, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found
