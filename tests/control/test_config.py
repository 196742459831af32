"""The configuration: every key is documented, every mistake is explained with its key."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.control.address import Address
from slipring.control.config import load_config
from slipring.errors import ConfigError


def test_what_the_command_line_does_not_say_is_left_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text("[mqtt]\nlisten = '127.0.0.1:7'\n[limits]\nvalues = 5\n")
    config = load_config(file, mqtt__listen=None, data=tmp_path)
    assert config.mqtt.listen == "127.0.0.1:7"
    assert config.limits.values == 5
    assert config.data == tmp_path


@pytest.mark.parametrize("listen", ["0.0.0.0:1883", "[::]:1883", "broker.example:1883"])
def test_other_machines_need_allow_anonymous(listen: str) -> None:
    with pytest.raises(ConfigError, match="allow_anonymous"):
        load_config(mqtt__listen=listen)
    assert load_config(mqtt__listen=listen, allow_anonymous=True).mqtt.listen == listen


@pytest.mark.parametrize(
    "listen", ["127.0.0.1:0", "127.1.2.3:1883", "[::1]:1883", "localhost:1883"]
)
def test_this_machine_needs_nothing(listen: str) -> None:
    assert load_config(mqtt__listen=listen, console__listen=listen).mqtt.listen == listen


@pytest.mark.parametrize(
    "text", ["", "1883", ":1883", "host:", "host:70000", "host:-1", "::1:1883"]
)
def test_what_is_not_an_address_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"HOST:PORT|not a port|brackets"):
        Address.parse(text)


@given(st.ip_addresses(), st.integers(0, 65535))
def test_an_address_reads_as_it_is_written(ip: object, port: int) -> None:
    address = Address(str(ip), port)
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[limts]", "limts: there is no such key; did you mean limits?"),
        ("[limits]\nvalue = 3", "limits.value: there is no such key; did you mean limits.values?"),
        ("[limits]\nbeat_ms = 3", "did you mean table.beat_ms?"),
        ("frobnicate = 3", "there is no such key; `slipring config` lists them all"),
        ("[limits]\nsessions = 0", "limits.sessions: Input should be greater than or equal to 1, "),
        ("[limits]\nsessions = 0", ", not 0"),
        ("[limits]\nqos0_full = 'drop'", "'drop_newest' or 'disconnect', not 'drop'"),
        ("[limits]\nvalues = -1\nsessions = 0", "limits.values"),
        ("[limits]\nvalues = -1\nsessions = 0", "limits.sessions"),
        ("[[priority]]\ntopics = ['a']\nlevel = 'urgent'", "priority.0.level: Input should be"),
        ("[[priority]]\ntopics = ['a/#/b']\nlevel = 'high'", "priority.0.topics.0: 'a/#/b' is not"),
        ("[[priority]]\ntopics = []\nlevel = 'high'", "priority.0.topics: "),
        ("[[priority]]\ntopics = ['a']", "priority.0.level: Field required"),
    ],
)
def test_a_mistake_says_the_key_and_what_it_may_be(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    assert told in str(raised.value)


def test_a_password_is_never_in_what_is_told(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    for password in ('"hunter2"', "[77123]"):
        file.write_text(f'[[user]]\nname = "a"\npassword = {password}\n')
        with pytest.raises(ConfigError) as raised:
            load_config(file)
        assert password.strip('"[]') not in str(raised.value)
