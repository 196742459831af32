"""The listeners of the configuration: what fits together, and what is safe."""

from pathlib import Path
from typing import Any

import pytest

from slipring.control import listener as listener_module
from slipring.control.config import Config, load_config
from slipring.errors import ConfigError

TLS = {"certificate": "broker.pem", "key": "broker.key"}
REQUIRED = TLS | {"client_ca": "ca.pem"}


def load(*listeners: dict[str, Any], **overrides: Any) -> Config:
    """A configuration with these listeners, each with a name and a place unless it says so."""
    named = [
        {"name": f"l{number}", "listen": "127.0.0.1:0"} | listener
        for number, listener in enumerate(listeners)
    ]
    return load_config(listener=named, **overrides)


def test_the_first_listener_is_that_of_mqtt() -> None:
    config = load({}, {"listen": "unix:/run/slipring.sock"})
    assert [listener.name for listener in config.listeners] == ["mqtt", "l0", "l1"]
    assert config.listeners[0].listen == config.mqtt.listen


def test_mqtt_can_be_left_out_where_there_is_another_listener() -> None:
    config = load({}, mqtt__listen="off")
    assert [listener.name for listener in config.listeners] == ["l0"]
    with pytest.raises(ConfigError, match=r"no \[\[listener\]\]"):
        load_config(mqtt__listen="off")


@pytest.mark.parametrize(
    ("listener", "told"),
    [
        ({"name": "mqtt"}, "taken"),
        ({"name": "console"}, "taken"),
        ({"name": "Two words"}, "name"),
        ({"listen": "nowhere"}, "HOST:PORT"),
        ({"listen": "unix:relative.sock"}, "unix:/PATH"),
        ({"listen": "unix:/two words"}, "unix:/PATH"),
        ({"certificate": "broker.pem"}, "certificate and key"),
        ({"key": "broker.key"}, "certificate and key"),
        ({"client_ca": "ca.pem"}, "client_ca needs certificate"),
        (TLS | {"client_certificates": "required"}, "client_certificates needs client_ca"),
        (REQUIRED | {"client_certificates": "perhaps"}, "client_certificates"),
        ({"origins": ["*"]}, "websocket = true"),
        ({"websocket": True, "origins": ["console.example"]}, "not an origin"),
        ({"websocket": True, "origins": ["https://console.example/page"]}, "not an origin"),
        ({"connections": 0}, "connections"),
        ({"tls": True}, "no such key"),
    ],
)
def test_what_does_not_fit_together_is_told(listener: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told.replace("[", r"\[")):
        load(listener)


def test_listeners_need_names_of_their_own() -> None:
    with pytest.raises(ConfigError, match="two listeners are named 'twin'"):
        load({"name": "twin"}, {"name": "twin"})


@pytest.mark.parametrize(
    "listener",
    [{}, {"websocket": True}, TLS, REQUIRED | {"client_certificates": "optional"}],
    ids=["plain", "websocket", "TLS", "optional certificates"],
)
def test_other_machines_must_prove_who_they_are(listener: dict[str, Any]) -> None:
    listener = listener | {"name": "open", "listen": "0.0.0.0:8883"}
    with pytest.raises(ConfigError, match=r"listener 'open': listen = .*allow_anonymous"):
        load(listener)
    assert load(listener, allow_anonymous=True).listener[0].listen == "0.0.0.0:8883"


def test_required_client_certificates_are_proof() -> None:
    assert load(REQUIRED | {"listen": "0.0.0.0:8883"}).listener[0].proves


@pytest.mark.parametrize("listen", ["unix:/run/slipring.sock", "[::1]:1883", "localhost:1883"])
def test_this_machine_need_prove_nothing(listen: str) -> None:
    assert load({"listen": listen}).listener[0].listen == listen


def test_a_prefix_that_the_engine_knows_stands_before_host_and_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match="brackets"):
        load({"listen": "udp:127.0.0.1:1883"})
    monkeypatch.setattr(listener_module, "PREFIXES", (*listener_module.PREFIXES, "udp:"))
    assert load({"listen": "udp:127.0.0.1:1883"}).listener[0].is_loopback
    with pytest.raises(ConfigError, match="not a port"):
        load({"listen": "udp:127.0.0.1:any"})


@pytest.mark.parametrize("origin", ["*", "null", "https://console.example:8443", "http://[::1]/"])
def test_an_origin_is_a_scheme_and_a_host(origin: str) -> None:
    assert load({"websocket": True, "origins": [origin]}).listener[0].origins == (origin,)


def test_the_example_of_the_documentation_is_fine(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "listeners.md").read_text()
    file = tmp_path / "broker.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0])
    names = [listener.name for listener in load_config(file).listeners]
    assert names == ["mqtt", "secure", "web", "local"]
