"""The wheel as a newcomer installs it: into a fresh environment, with nothing of the checkout."""

import contextlib
import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.running_broker import PATIENCE_S, READY

ROOT = Path(__file__).parents[2]
NATIVE = "slipring/_native.abi3.so"
NATIVE_BYTES_MAX = 16_000_000
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
        """That of a person who has only this one on the path."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        return kept | {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"}

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
    """Made anew where something has changed."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    made = subprocess.run(
        ["make", "needs=", "wheel"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (found,) = (ROOT / ".build" / "wheel").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """From what is downloaded already; the versions are the locked ones."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    python = str(folder / "venv" / "bin" / "python")
    locked = folder / "needed.lock"
    locked.write_text(needed())
    install = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python]
    subprocess.run([*install, "--require-hashes", "--requirement", locked], check=True)
    subprocess.run([*install, wheel], check=True)
    subprocess.run([uv, "pip", "check", "--quiet", "--python", python], check=True)
    (folder / "work").mkdir()
    return Installed(folder / "venv", folder / "work")


def needed() -> str:
    """The part of the lock file that the package needs without its extras."""
    names, asked = set[str](), ["slipring"]
    while asked:
        for text in metadata.requires(asked.pop()) or []:
            one = Requirement(text)
            name = canonicalize_name(one.name)
            if name not in names and (one.marker is None or one.marker.evaluate({"extra": ""})):
                names.add(name)
                asked.append(name)
    entries = re.split(
        r"^(?=[a-z0-9])", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE
    )
    return "".join(entry for entry in entries if entry.partition("==")[0] in names)


def test_it_has_every_file_of_the_package_and_the_page(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        native = archive.read(NATIVE)
    listed = subprocess.run(
        ["git", "ls-files", "."], cwd=ROOT / "python", capture_output=True, text=True, check=True
    )
    assert set(listed.stdout.split()) <= held
    assert "slipring/console/static/index.html" in held
    assert any(name.endswith(".js") for name in held)
    assert not [name for name in held if name.endswith(".pyc") or name.startswith("tests/")]
    assert len(native) < NATIVE_BYTES_MAX
    assert b"\0.debug_line\0" not in native
    assert b"\0.symtab\0" not in native


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
