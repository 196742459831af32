"""`slipring login` keeps a token where only its owner can read it, and commands use it."""

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from slipring.cli.token_store import broker_key, forget_token, keep_token
from tests.cli.commands import command
from tests.client.issuing_broker import IssuingBroker, issuing_broker
from tests.client.test_credentials_tokens import jwt


@pytest.fixture(scope="module")
def issuing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IssuingBroker]:
    with issuing_broker(tmp_path_factory.mktemp("issuing")) as broker:
        yield broker


@pytest.fixture
def console(issuing: IssuingBroker) -> Iterator[str]:
    """What a console does for a login: a password for a token."""

    class Token(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/api/token"
            given = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if given != {"user": "gripen", "password": "pencil"}:
                self.send_error(401, "wrong")
                return
            answer = json.dumps({"token": issuing.token(), "expires_s": 1000}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Token)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Person:
    """Somebody's home, and the commands they run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tokens = home / "state" / "slipring" / "tokens.json"

    def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        known = {key: one for key, one in os.environ.items() if not key.startswith("SLIPRING_")}
        done = subprocess.run(
            command(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**known, "XDG_STATE_HOME": str(self.home / "state"), **environment},
            start_new_session=True,
            timeout=100,
            check=False,
        )
        return done.returncode, done.stderr + done.stdout

    def login(self, url: str, console: str, password: str = "pencil") -> tuple[int, str]:
        given = {"SLIPRING_PASSWORD": password}
        return self.run("login", url, "--console", console, "--user", "gripen", **given)

    def publish(self, url: str, *more: str, **environment: str) -> tuple[int, str]:
        return self.run("pub", "a", "b", "--url", url, *more, **environment)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_after_a_login_commands_need_no_password_until_the_logout(
    issuing: IssuingBroker, console: str, person: Person
) -> None:
    code, said = person.publish(issuing.url)
    assert code == 1
    assert "not authorized" in said
    code, said = person.login(issuing.url, console)
    assert (code, said) == (0, f"logged in at {issuing.url} as gripen for 1,000 s\n")
    assert person.publish(issuing.url) == (0, "")
    assert person.run("table", "--url", issuing.url)[0] == 0
    assert person.run("logout", issuing.url) == (0, f"logged out of {issuing.url}\n")
    assert person.publish(issuing.url)[0] == 1
    assert json.loads(person.tokens.read_text()) == {}


def test_the_file_of_tokens_is_for_its_owner_alone(
    issuing: IssuingBroker, console: str, person: Person
) -> None:
    person.login(issuing.url, console)
    assert person.tokens.stat().st_mode & 0o777 == 0o600
    assert person.tokens.parent.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in person.tokens.parent.iterdir()] == ["tokens.json"]
    person.tokens.chmod(0o644)
    code, said = person.publish(issuing.url)
    assert code == 1
    assert f"chmod 600 {person.tokens}" in said
    assert said.count("\n") == 1


def test_a_wrong_password_keeps_no_token_and_is_not_shown(
    issuing: IssuingBroker, console: str, person: Person
) -> None:
    code, said = person.login(issuing.url, console, "hunter2")
    assert code == 1
    assert "refused (401)" in said
    assert "hunter2" not in said
    assert not person.tokens.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("login", "--user", "gripen"), "no password for 'gripen': give --password-file, or set"),
        (("login",), "no user name was given: give --user, or set SLIPRING_USER"),
        (("memory", "--user", "gripen"), "no password for 'gripen': give --password-file, or set"),
    ],
)
def test_who_cannot_be_asked_is_told_what_to_give(
    console: str, person: Person, arguments: tuple[str, ...], told: str
) -> None:
    code, said = person.run(*arguments, "--console", console)
    assert code == 1
    assert told in said
    assert "Aborted" not in said


def test_ctrl_c_at_the_question_for_a_password_ends_a_login(console: str, person: Person) -> None:
    process, terminal = pty.fork()
    if process == 0:
        arguments = command("login", "--console", console, "--user", "gripen")
        os.execve(sys.executable, arguments, os.environ | {"XDG_STATE_HOME": str(person.home)})
    said = b""
    while b"Password of gripen: " not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert not person.tokens.exists()


def test_a_token_about_to_end_is_told_and_one_that_has_ended_is_not_used(
    issuing: IssuingBroker, console: str, person: Person
) -> None:
    person.login(issuing.url, console)
    for left_s, code, words in [(300, 0, "ends in"), (-1, 1, "has ended")]:
        token = issuing.token(left_s) if left_s > 0 else jwt("gripen", left_s)
        person.tokens.write_text(json.dumps({broker_key(issuing.url): token}))
        done, said = person.publish(issuing.url)
        assert done == code
        assert words in said
        assert f"slipring login {issuing.url}" in said


def test_credentials_come_from_files_and_the_environment_never_from_the_command_line(
    issuing: IssuingBroker, person: Person
) -> None:
    file = person.home / "secret"
    file.touch(0o600)
    file.write_text(f"{issuing.token()}\nignored\n")
    assert person.publish(issuing.url, "--token-file", str(file)) == (0, "")
    assert person.publish(issuing.url, SLIPRING_TOKEN_FILE=str(file)) == (0, "")
    assert person.publish(issuing.url, SLIPRING_TOKEN=issuing.token()) == (0, "")
    by_name = {"SLIPRING_USER": "gripen", "SLIPRING_PASSWORD": "pencil"}
    assert person.publish(issuing.url, **by_name) == (0, "")
    scram = ("--authentication", "scram")
    assert person.publish(issuing.url, *scram, **by_name) == (0, "")
    for secret in ("--password", "--token"):
        code, said = person.publish(issuing.url, secret, "pencil")
        assert code != 0
        assert "No such option" in said


def test_a_name_does_not_hide_a_token_of_the_same_user(
    issuing: IssuingBroker, console: str, person: Person
) -> None:
    person.login(issuing.url, console)
    assert person.publish(issuing.url, SLIPRING_USER="gripen") == (0, "")
    code, said = person.publish(issuing.url, SLIPRING_USER="anna")
    assert code == 1
    assert "no password for 'anna'" in said
    token = issuing.token()
    person.tokens.write_text(json.dumps({broker_key(issuing.url): jwt("gripen", -1)}))
    named = {"SLIPRING_USER": "gripen", "SLIPRING_TOKEN": token}
    assert person.publish(issuing.url, **named) == (0, "")
    # A login that has ended is no hindrance to a password.
    assert "no password for 'gripen'" in person.publish(issuing.url, SLIPRING_USER="gripen")[1]


@pytest.mark.parametrize("url", ["broker", "http://broker", "mqtt://", "mqtt://me:pencil@broker"])
def test_an_address_that_no_command_can_use_is_refused_before_the_password(
    person: Person, url: str
) -> None:
    code, said = person.login(url, "http://127.0.0.1:1")
    assert code == 1
    assert "an address" in said or "the address of a broker" in said
    assert "pencil" not in said.replace(url, "")
    assert not person.tokens.exists()


def test_logins_at_the_same_time_lose_none(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(person.home / "state"))
    urls = [f"mqtt://broker-{number}:1883" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda url: keep_token([url], f"token of {url}"), urls))
    assert json.loads(person.tokens.read_text()) == {url: f"token of {url}" for url in urls}
    assert all(forget_token(url) for url in urls)
    assert not forget_token(urls[0])


@pytest.mark.parametrize("name", ["--password-file", "--token-file"])
def test_a_file_that_others_can_read_is_refused_with_what_mends_it(
    issuing: IssuingBroker, person: Person, name: str
) -> None:
    file = person.home / "secret"
    file.write_text("pencil")
    file.chmod(0o640)
    code, said = person.publish(issuing.url, "--user", "gripen", name, str(file))
    assert code == 1
    assert f"run: chmod 600 {file}" in said


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("mqtt://Broker", "mqtt://broker:1883"),
        ("mqtts://broker:99", "mqtts://broker:99"),
        ("wss://broker/mqtt", "wss://broker:443"),
        ("mqtt://[::1]", "mqtt://[::1]:1883"),
        ("http://broker/", "http://broker:80"),
        ("unix:/run/x.sock", "unix:/run/x.sock"),
        ("mqtt://broker:port", "mqtt://broker:port"),
    ],
)
def test_a_broker_is_known_by_its_address_however_it_is_written(url: str, key: str) -> None:
    assert broker_key(url) == key
