"""Configurations of Mosquitto as ours: what becomes what, and what is said of the rest."""

import tomllib
from typing import Any

import pytest

from slipring.control.config import Config
from slipring.control.mosquitto_config import MosquittoFiles, imported_config
from slipring.control.mosquitto_settings import lines_of

TLS = "certfile /etc/tls/broker.pem\nkeyfile /etc/tls/broker.key\n"
PASSWORDS = "anna:$7$101$c2FsdA==$aGFzaA==\nolga:$6$c2FsdA==$aGFzaA==\n"

SHAPES: list[tuple[str, str, dict[str, Any]]] = [
    ("nothing at all", "", {}),
    (
        "open to the network",
        "listener 1883\nallow_anonymous true\n",
        {
            "allow_anonymous": True,
            "mqtt": {"listen": "off"},
            "listener": [{"name": "port-1883", "listen": "0.0.0.0:1883"}],
        },
    ),
    (
        "an old file with port",
        "port 1884\nbind_address 127.0.0.1\n",
        {"listener": [{"name": "port-1884", "listen": "127.0.0.1:1884"}]},
    ),
    (
        "TLS and passwords",
        f"listener 8883\n{TLS}password_file /etc/mosquitto/passwd\nallow_anonymous false\n",
        {
            "listener": [
                {
                    "name": "port-8883",
                    "listen": "0.0.0.0:8883",
                    "certificate": "/etc/tls/broker.pem",
                    "key": "/etc/tls/broker.key",
                }
            ]
        },
    ),
    (
        "client certificates",
        (
            f"listener 8883 ::\n{TLS}cafile /etc/tls/ca.pem\ncrlfile /etc/tls/ca.crl\n"
            "require_certificate true\nuse_identity_as_username true\n"
        ),
        {
            "listener": [
                {
                    "name": "port-8883",
                    "listen": "[::]:8883",
                    "certificate": "/etc/tls/broker.pem",
                    "key": "/etc/tls/broker.key",
                    "client_ca": "/etc/tls/ca.pem",
                    "client_crl": ["/etc/tls/ca.crl"],
                }
            ]
        },
    ),
    (
        "browsers and programs of this machine",
        "listener 9001 127.0.0.1\nprotocol websockets\nlistener 0 /run/mosquitto/m.sock\n",
        {
            "listener": [
                {"name": "port-9001", "listen": "127.0.0.1:9001", "websocket": True},
                {"name": "unix", "listen": "unix:/run/mosquitto/m.sock"},
            ]
        },
    ),
    (
        "one port at two addresses",
        "listener 1883 127.0.0.1\nmax_connections 50\nlistener 1883 ::1\nmax_connections -1\n",
        {
            "listener": [
                {"name": "port-1883", "listen": "127.0.0.1:1883", "connections": 50},
                {"name": "port-1883-2", "listen": "[::1]:1883"},
            ]
        },
    ),
    ("nothing on the disk", "persistence false\n", {"journal": {"topics": []}}),
    (
        "limits",
        (
            "max_inflight_messages 20\nmax_queued_messages 0\nmax_queued_bytes 1\n"
            "max_packet_size 65536\nmax_keepalive 300\npersistent_client_expiration 2w\n"
            "memory_limit 100000000\nsys_interval 0\nretain_available false\n"
        ),
        {
            "limits": {
                "inflight": 20,
                "queue_messages": 100_000_000,
                "queue_bytes": 1024,
                "packet_bytes": 65536,
                "keep_alive_s": 300,
                "session_expiry_s": 14 * 86_400,
                "memory_bytes": 100_000_000,
                "retained_messages": 0,
            },
            "mqtt": {"sys_interval_s": 0},
        },
    ),
    ("a quiet log", "log_type error\nlog_type warning\n", {"log": {"level": "warning"}}),
    ("a loud log", "log_type all\nlog_type error\n", {"log": {"level": "debug"}}),
]


def converted(text: str, files: MosquittoFiles | None = None) -> tuple[Config, Any, list[str]]:
    """The config, which must be one that a broker takes, as TOML too, and what was said."""
    found = imported_config(lines_of("m.conf", text), files or MosquittoFiles())
    values = tomllib.loads(found.toml)
    return Config.model_validate(values), values, found.notes


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in SHAPES], ids=[s[0] for s in SHAPES]
)
def test_a_config_becomes_ours(text: str, expected: dict[str, Any]) -> None:
    files = MosquittoFiles(passwords=PASSWORDS if "password_file" in text else "")
    _, values, _ = converted(text, files)
    for key, value in expected.items():
        assert values[key] == value


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pid_file /run/m.pid", "not needed: systemd"),
        ("mount_point site/", "not taken over: topics here have no prefix"),
        ("psk_file /etc/psk", "not taken over: TLS with shared keys"),
        ("auth_plugin /usr/lib/auth.so", "not taken over: see access.md"),
        ("plugin_opt_config_file /x.json", "not taken over: see access.md"),
        ("connection upstream", "not taken over: brokers are not linked"),
        ("remote_username bridge", "not taken over: brokers are not linked"),
        ("bridge_cafile /ca.pem", "not taken over: brokers are not linked"),
        ("max_inflight_messages many", "not taken over: 'many' is no number"),
        ("persistent_client_expiration 3s", "not taken over: '3s' is not a number with"),
        ("tls_version tlsv1.1", "not taken over: TLS 1.2 and 1.3"),
        ("persistance true", "not taken over: it is no word that we know"),
    ],
)
def test_what_cannot_be_taken_over_is_told_with_its_line(line: str, said: str) -> None:
    _, _, notes = converted(f"# A file.\n\n{line}\n")
    assert len(notes) == 1
    assert notes[0].startswith(f"m.conf:3: {line.split(maxsplit=1)[0]}: {said}"), notes


def test_users_come_along_with_passwords_that_nobody_knows() -> None:
    config, values, notes = converted("password_file x\n", MosquittoFiles(passwords=PASSWORDS))
    assert [user["name"] for user in values["user"]] == ["anna", "olga"]
    verifiers = {user["password"] for user in values["user"]}
    assert len(verifiers) == 2
    assert config.has_users
    assert values["access"]["rule"] == [
        {"who": ["known"], "allow": ["publish", "retain", "subscribe"], "topics": ["#", "$SYS/#"]}
    ]
    assert sum("slipring password" in note for note in notes) == 2


def test_rules_come_from_the_acl_file_and_nothing_beside_them_is_allowed() -> None:
    acl = "user anna\ntopic read gripen/#\nwhatever\n"
    _, values, notes = converted("acl_file x\n", MosquittoFiles(acl=acl))
    assert values["access"]["rule"] == [
        {"who": ["user:anna"], "allow": ["subscribe"], "topics": ["gripen/#"]}
    ]
    assert any(note.startswith("ACL file: line 3 is not taken over") for note in notes)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("listener 1883\n", MosquittoFiles()),
        ("listener 1883\nallow_anonymous false\n", MosquittoFiles()),
        ("listener 8883\npsk_file /etc/psk\n", MosquittoFiles()),
        ("listener 1883\npassword_file gone\n", MosquittoFiles(passwords=None)),
        ("listener 1883\nacl_file gone\n", MosquittoFiles(acl=None)),
        (f"listener 8883\n{TLS}require_certificate true\n", MosquittoFiles()),
        ("listener 1883\nlistener 1884\nlistener_allow_anonymous true\n", MosquittoFiles()),
        (
            "per_listener_settings true\nlistener 1883\nallow_anonymous true\nlistener 1884\n",
            MosquittoFiles(),
        ),
        ("allow_anonymous true\nlistener 1883\nlistener_allow_anonymous 0\n", MosquittoFiles()),
    ],
)
def test_a_listener_to_which_nobody_could_prove_a_name_is_not_opened(
    text: str, files: MosquittoFiles
) -> None:
    config, _, notes = converted(text, files)
    assert all(listener.is_loopback for listener in config.listeners)
    assert any("it listens on this machine only" in note for note in notes)


@pytest.mark.parametrize(
    ("line", "guard"),
    [
        (f"{TLS}capath /etc/tls\nrequire_certificate 1\n", "certificates of clients"),
        ("psk_hint range\n", "shared keys"),
        ("plugin /usr/lib/mosquitto_dynamic_security.so\n", "a plugin"),
    ],
)
def test_a_listener_whose_guard_is_not_taken_over_is_not_opened(line: str, guard: str) -> None:
    text = f"allow_anonymous true\npassword_file x\nlistener 8883\n{line}"
    config, _, notes = converted(text, MosquittoFiles(passwords=PASSWORDS))
    assert all(listener.is_loopback for listener in config.listeners)
    assert any(f"{guard}, which is not taken over, so it listens on this" in note for note in notes)


def test_one_is_true_as_in_mosquitto() -> None:
    text = (
        f"persistence 1\nallow_anonymous 1\nlistener 8883\n{TLS}cafile /ca.pem\n"
        "require_certificate 1\nuse_identity_as_username 1\n"
    )
    config, values, notes = converted(text)
    assert values["listener"][0]["client_ca"] == "/ca.pem"
    assert values["journal"]["topics"] == ["#"]
    assert config.allow_anonymous
    assert not notes


def test_lines_before_any_listener_make_one_at_port_1883() -> None:
    _, values, _ = converted(f"allow_anonymous true\n{TLS}listener 1884 127.0.0.1\n")
    assert [one["listen"] for one in values["listener"]] == ["0.0.0.0:1883", "127.0.0.1:1884"]
    assert values["listener"][0]["certificate"] == "/etc/tls/broker.pem"


def test_a_name_with_a_control_character_stays_one_text() -> None:
    files = MosquittoFiles(passwords="a\x7fb:$7$101$c2FsdA==$aGFzaA==\n")
    text = found_text("password_file x\n", files)
    assert tomllib.loads(text)["user"][0]["name"] == "a\x7fb"


def found_text(text: str, files: MosquittoFiles) -> str:
    return imported_config(lines_of("m.conf", text), files).toml


def test_a_file_of_passwords_that_cannot_be_read_lets_nobody_in() -> None:
    config, _, _ = converted("password_file gone\n", MosquittoFiles(passwords=None))
    assert config.has_users


def test_nobody_is_anonymous_if_one_listener_asks_for_a_name() -> None:
    text = (
        "per_listener_settings true\nlistener 1883 127.0.0.1\nallow_anonymous true\n"
        "listener 1884\nallow_anonymous false\npassword_file x\n"
    )
    config, _, notes = converted(text, MosquittoFiles(passwords=PASSWORDS))
    assert not config.allow_anonymous
    assert "allow_anonymous differs by listener: here nobody is anonymous" in notes
