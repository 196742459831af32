"""Secrets come from files or the environment, and are in nothing that a broker writes or shows."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import slipring
from slipring.control.access_grants import AccessGrants, user_of
from slipring.control.access_store import AccessStore
from slipring.control.config import load_config
from slipring.control.token_folder import TokenFolder
from slipring.errors import ConfigError
from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.cli.authority import Authority
from tests.cli.commands import slipring as slipring_command
from tests.running_broker import PATIENCE_S, RunningBroker

STORED = verifier("pencil")


def user(password: Any) -> str:
    """The verifier that a configuration with this password has."""
    config = load_config(user=[{"name": "gripen", "password": password}])
    assert STORED not in repr(config) + str(config)
    return config.user[0].password.get_secret_value()


def test_a_secret_may_be_in_a_file_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "verifier"
    file.touch(0o600)
    file.write_text(f"{STORED}\n")
    monkeypatch.setenv("GRIPEN", STORED)
    for given in (STORED, {"file": str(file)}, {"env": "GRIPEN"}):
        assert user(given) == STORED


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"env": "NO_SUCH"}, "the environment has no NO_SUCH"),
        ({"file": "/no/such"}, "/no/such cannot be read"),
        ({"file": "a", "env": "b"}, "a secret is a text"),
        ({"secret": "hunter2"}, "a secret is a text"),
        ({}, "a secret is a text"),
    ],
)
def test_a_secret_that_is_not_there_is_told_with_its_key(given: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError) as error:
        user(given)
    assert str(error.value).startswith("configuration: user.0.password: ")
    assert told in str(error.value)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused_with_what_mends_it(
    tmp_path: Path, mode: int
) -> None:
    file = tmp_path / "verifier"
    file.write_text(STORED)
    file.chmod(mode)
    with pytest.raises(ConfigError, match=f"run: chmod 600 {file}"):
        user({"file": str(file)})
    subprocess.run(["chmod", "600", str(file)], check=True)
    assert user({"file": str(file)}) == STORED


CONFIG = """
core_dumps = {dumps}
[log]
level = "debug"
[log.rooms]
messages = "debug"
requests = "debug"
[[log.server]]
kind = "otlp"
address = "http://127.0.0.1:9"
headers = {{ authorization = {{ env = "OTLP_SECRET" }} }}
[[listener]]
name = "secure"
listen = "127.0.0.1:0"
certificate = "{folder}/{server}.crt"
key = "{folder}/{server}.key"
[[user]]
name = "by-file"
password = {{ file = "{folder}/verifier" }}
[[user]]
name = "by-env"
password = {{ env = "VERIFIER" }}
[[user]]
name = "inline"
password = "{inline}"
[token]
enabled = true
"""
PASSWORDS = {"by-file": "secret-of-file", "by-env": "secret-of-env", "inline": "secret-inline"}
WRONG = "a-wrong-secret"
HEADER = "Bearer-otlp-secret"


def start(folder: Path, *, dumps: bool = False) -> tuple[RunningBroker, list[str]]:
    """A broker with a secret in every place, and all of them."""
    stored = {name: verifier(password) for name, password in PASSWORDS.items()}
    server = Authority.made(folder, "ca").server()
    (folder / "verifier").touch(0o600)
    (folder / "verifier").write_text(stored["by-file"])
    config = folder / "broker.toml"
    config.touch(0o600)
    text = CONFIG.format(
        folder=folder,
        server=server.key.stem,
        inline=stored["inline"],
        dumps=str(dumps).lower(),
    )
    config.write_text(text + ALL)
    known = {"VERIFIER": stored["by-env"], "OTLP_SECRET": HEADER}
    running = RunningBroker.start(
        folder / "data", "--config", str(config), environment={**os.environ, **known}
    )
    key = server.key.read_text().splitlines()[1]
    return running, [*PASSWORDS.values(), *stored.values(), HEADER, WRONG, key]


async def use(running: RunningBroker) -> str:
    """Connects in every way, right and wrong; what the client said of it."""
    said = []
    for name, password in [*PASSWORDS.items(), ("nobody", WRONG), ("inline", WRONG)]:
        for authentication in ("password", "scram"):
            try:
                async with slipring.connect(
                    running.url,
                    user=name,
                    password=password,
                    authentication=authentication,
                ) as bus:
                    await bus.publish("a/b", b"1", qos=1)
                    said.append(repr(bus) + repr(vars(bus)))
            except slipring.ConnectError as error:
                said.append(str(error))
    with pytest.raises(slipring.ConnectError) as told:
        await slipring.connect(running.url, token=WRONG)
    return "".join([*said, str(told.value)])


def shown(running: RunningBroker) -> str:
    """What the console shows to anyone who asks."""
    pages = []
    for path in ("/api/status", "/metrics", "/api/clients", "/api/config", "/api/log", "/"):
        with (
            contextlib.suppress(OSError),  # there is no such page, or it wants a login
            urllib.request.urlopen(f"{running.console}{path}", timeout=PATIENCE_S) as page,
        ):
            pages.append(page.read().decode(errors="replace"))
    return "".join(pages)


def told(*command: str) -> str:
    """All that a command writes."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


async def test_no_secret_is_in_anything_that_a_broker_writes_or_shows(tmp_path: Path) -> None:
    running, secrets = start(tmp_path)
    said = await use(running) + shown(running)
    processes = told("ps", "-eww", "-o", "args")
    assert str(tmp_path) in processes
    (tmp_path / "broker.toml").write_text("[[user]]\nname = 'x'\npassword = 'secret-inline'\n")
    running.process.send_signal(signal.SIGHUP)
    status = told(sys.executable, "-m", "slipring", "status", running.console, "--json")
    while "nothing is changed" not in said:
        assert running.process.stderr is not None
        said += running.process.stderr.readline()
    # Read from the same reader to the end: `communicate` would lose what it has buffered.
    running.process.send_signal(signal.SIGTERM)
    with running.process as process:
        assert process.stderr is not None
        said += process.stderr.read()
    assert running.process.returncode == 0
    assert "is not authenticated" in said
    for secret in secrets:
        for where in (said, status, processes):
            assert secret not in where, secret


def dumped(running: RunningBroker, number: signal.Signals) -> bool:
    """Whether the system wrote a core dump, although the limit is raised from outside."""
    pid, unlimited = running.process.pid, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with contextlib.suppress(PermissionError):  # even root may not, in some containers
        resource.prlimit(pid, resource.RLIMIT_CORE, unlimited)
    os.kill(pid, number)
    _, status = os.waitpid(pid, 0)
    running.process.returncode = -number
    running.process.communicate()
    assert os.WTERMSIG(status) == number
    return os.WCOREDUMP(status)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV])
def test_a_broker_with_users_leaves_no_core_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.chdir(tmp_path)
    running, secrets = start(tmp_path)
    assert resource.prlimit(running.process.pid, resource.RLIMIT_CORE) == (0, 0)
    assert not dumped(running, number)
    for file in tmp_path.iterdir():
        if file.is_file() and file.suffix not in (".toml", ".key", ".crt") and "core" in file.name:
            content = file.read_bytes()
            assert not any(secret.encode() in content for secret in secrets)


def test_with_core_dumps_the_limit_stays_as_it_was_for_a_debugger(tmp_path: Path) -> None:
    running, _ = start(tmp_path, dumps=True)
    own = resource.prlimit(running.process.pid, resource.RLIMIT_CORE)
    assert own == resource.getrlimit(resource.RLIMIT_CORE)
    assert running.stop()[0] == 0


OPEN_FILES = """
[token]
enabled = true
[access]
folder = "access.d"
[console]
listen = "127.0.0.1:0"
certificate = "{folder}/{server}.crt"
key = "{folder}/{server}.key"
[console.oidc]
issuer = "http://127.0.0.1:9"
client_id = "slipring"
client_secret_file = "{folder}/oidc"
[[listener]]
name = "secure"
listen = "127.0.0.1:0"
certificate = "{folder}/{server}.crt"
key = "{folder}/secure.key"
[[user]]
name = "by-file"
password = {{ file = "{folder}/verifier" }}
"""
SECRET_FILES = (
    "console.key", "secure.key", "oidc", "verifier", "access.d/10-people.toml",
    "data/access.jsonl", "data/tokens/keys.json", "data/tokens/revoked.json",
)  # fmt: skip
"""Every file with a secret that a broker reads."""


@pytest.fixture(scope="module")
def every_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a broker's files, each with its secret, for its owner only."""
    folder = tmp_path_factory.mktemp("files")
    server = Authority.made(folder, "ca").server()
    people = f"[[user]]\nname = 'filed'\npassword = '{STORED}'\n"
    for name in ("data/tokens", "access.d"):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(0o700)
    (folder / "data").chmod(0o700)
    key = server.key.read_text()
    texts = {"oidc": "x\n", "verifier": STORED, "access.d/10-people.toml": people}
    for name, text in (texts | {"secure.key": key, "console.key": key}).items():
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    AccessStore(folder / "data").write(AccessGrants().with_user(user_of("added", STORED, [])))
    tokens = TokenFolder(folder / "data" / "tokens")
    tokens.rotate(0)
    tokens.revoke_user("nobody", 0)
    text = OPEN_FILES.format(folder=folder, server=server.key.stem)
    text = text.replace(f'key = "{folder}/{server.key.name}', f'key = "{folder}/console.key')
    (folder / "broker.toml").touch(0o600)
    (folder / "broker.toml").write_text(text)
    return folder


@pytest.mark.parametrize("name", SECRET_FILES)
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_no_broker_starts_on_a_secret_that_others_can_read(
    every_file: Path, name: str, mode: int
) -> None:
    file, started = every_file / name, ("--config", every_file / "broker.toml")
    file.chmod(mode)
    command = ("serve", *started, "--data", every_file / "data", "--mqtt", "127.0.0.1:0")
    line = slipring_command(*command, code=1).stderr
    mending = re.search(rf"chmod 600 {file}", line)
    subprocess.run(mending[0].split() if mending else ["chmod", "600", file], check=True)
    assert mending, line
    assert STORED not in line
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_broker_starts_when_every_secret_is_its_own(every_file: Path) -> None:
    config = str(every_file / "broker.toml")
    running = RunningBroker.start(every_file / "data", "--config", config)
    assert running.stop()[0] == 0
