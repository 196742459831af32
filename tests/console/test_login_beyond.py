"""A console for other machines: only with users and TLS, or behind a proxy that does TLS."""

import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from slipring.control.config import Config, load_config
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError
from tests.console.test_login import PASSWORD, RULES, USERS, logged_in, user
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

SOMEBODY = {"name": "vera", "password": EXAMPLE_VERIFIER}
TLS = {"certificate": "console.pem", "key": "console.key"}
EVERYWHERE = {"listen": "0.0.0.0:8080"}


def made(console: dict[str, object], *, users: bool) -> Config:
    return load_config(console=console, user=[SOMEBODY] if users else None)


@pytest.mark.parametrize(
    ("console", "users"),
    [
        (EVERYWHERE | TLS, True),
        (EVERYWHERE | {"behind_proxy": True}, True),
        ({"behind_proxy": True}, True),
        (EVERYWHERE | {"allow_anonymous": True}, False),
        (EVERYWHERE | {"allow_anonymous": True}, True),
        (TLS, False),
    ],
)
def test_a_console_that_is_guarded_may_listen(console: dict[str, object], users: bool) -> None:
    made(console, users=users)


@pytest.mark.parametrize(
    ("console", "users", "told"),
    [
        (EVERYWHERE, False, "without users it has no login"),
        (EVERYWHERE, True, "passwords would cross the network in clear; set certificate and key"),
        (EVERYWHERE | TLS, False, "without users it has no login; add a [[user]]"),
        ({"behind_proxy": True}, False, "console.behind_proxy needs users"),
        ({"certificate": "a"}, True, "certificate and key need each other"),
        (TLS | {"behind_proxy": True}, True, "either the console speaks HTTPS"),
    ],
)
def test_a_console_that_is_open_is_refused_with_what_to_do(
    console: dict[str, object], users: bool, told: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        made(console, users=users)
    assert told in str(refused.value)


@dataclass
class Secured:
    """A console with TLS, and who trusts it."""

    running: RunningBroker
    folder: Path

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "console.pem"))


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("tls")
    _make_certificate(folder)
    section = f'[console]\ncertificate = "{folder}/console.pem"\nkey = "{folder}/console.key"\n'
    with broker_in(folder, config=section + USERS) as running:
        yield Secured(running, folder)


def _make_certificate(folder: Path) -> None:
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-keyout console.key -out console.pem -subj /CN=console "
        "-addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)


def test_by_https_a_person_logs_in_with_a_cookie_for_this_host_only(secured: Secured) -> None:
    console = secured.running.console
    assert console.startswith("https://")
    with httpx.Client(base_url=console, verify=secured.trust, timeout=PATIENCE_S) as client:
        origin = {"origin": console}
        answer = client.post(
            "/api/login", json={"user": "vera", "password": PASSWORD}, headers=origin
        )
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-slipring-")
        assert "; Secure" in cookie
        assert client.get("/api/overview").status_code == 200
        address = console.replace("https", "wss", 1) + "/api/live"
        header = {"cookie": cookie.partition(";")[0]}
        with connect(address, ssl=secured.trust, additional_headers=header, max_size=None) as page:
            assert page.recv(PATIENCE_S)
        plain = {"origin": console.replace("https", "http", 1)}
        assert client.get("/api/me", headers=plain).status_code == 403


def test_a_peer_without_tls_disturbs_nobody(secured: Secured) -> None:
    address = secured.running.console.removeprefix("https://")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"http://{address}/live", timeout=PATIENCE_S)
    answer = httpx.get(f"https://{address}/live", verify=secured.trust, timeout=PATIENCE_S)
    assert answer.text == "live\n"


def test_a_new_certificate_is_used_without_a_restart(secured: Secured) -> None:
    before = secured.trust
    (secured.folder / "console.key").write_text("not a key yet")
    _make_certificate(secured.folder)
    address = f"{secured.running.console}/live"
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        try:
            assert httpx.get(address, verify=secured.trust, timeout=PATIENCE_S).text == "live\n"
            break
        except httpx.ConnectError:  # the files are looked at once a second
            continue
    with pytest.raises(httpx.ConnectError):
        httpx.get(address, verify=before, timeout=PATIENCE_S)


def test_a_certificate_that_is_not_there_is_named_at_the_start(tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    config.write_text('[console]\ncertificate = "no.pem"\nkey = "no.key"\n' + USERS)
    with pytest.raises(AssertionError, match="the console cannot use the certificate"):
        RunningBroker.start(tmp_path / "data", "--config", str(config))


def test_behind_a_proxy_names_are_its_own_and_addresses_are_what_it_adds(tmp_path: Path) -> None:
    config = "[console]\nbehind_proxy = true\n" + user("vera", "viewer") + RULES
    with broker_in(tmp_path, config=config) as running:
        public = {"host": "console.example", "origin": "https://console.example"}
        with httpx.Client(base_url=running.console, headers=public, timeout=PATIENCE_S) as client:
            answer = client.post("/api/login", json={"user": "vera", "password": PASSWORD})
            assert answer.headers["set-cookie"].startswith("__Host-slipring-")
            insecure = {"origin": "http://console.example"}
            assert client.get("/api/me", headers=insecure).status_code == 403
            for number in range(25):
                wrong = {"user": f"name-{number}", "password": "x"}
                forwarded = {"x-forwarded-for": "192.0.2.1, 203.0.113.9"}
                answer = client.post("/api/login", json=wrong, headers=forwarded)
            assert answer.status_code == 429
            right = {"user": "vera", "password": PASSWORD}
            others = {"x-forwarded-for": "203.0.113.9, 192.0.2.1"}
            assert client.post("/api/login", json=right, headers=others).status_code == 200


def test_without_users_the_console_on_loopback_is_as_simple_as_ever(
    broker: RunningBroker,
) -> None:
    answer = httpx.post(
        f"{broker.console}/api/clients/disconnect", json={"client_ids": ["x"]}, timeout=PATIENCE_S
    )
    assert answer.json() == {"done": [], "unknown": ["x"]}


def test_anybody_sees_what_rules_about_anyone_allow(tmp_path: Path) -> None:
    rules = '\n[[access.rule]]\nwho = ["anyone"]\nallow = ["watch"]\ntopics = ["public/#"]\n'
    config = "[console]\nallow_anonymous = true\n" + USERS + rules
    with broker_in(tmp_path, config=config) as running:
        me = httpx.get(f"{running.console}/api/me", timeout=PATIENCE_S).json()
        assert (me["needs_login"], me["watches"], me["user"]) == (False, "some", None)
        assert httpx.get(f"{running.console}/api/overview", timeout=PATIENCE_S).status_code == 200
        assert httpx.get(f"{running.console}/metrics", timeout=PATIENCE_S).status_code == 401
        with logged_in(running.console, "vera") as client:
            assert client.get("/api/me").json()["watches"] == "all"
