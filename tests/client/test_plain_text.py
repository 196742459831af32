"""A secret that a network carries in clear is told once; one that nobody can read is not."""

import logging

import pytest

from slipring.credentials import BrokerCredentials, plain_text, warn_of_plain_text

PASSWORD = BrokerCredentials("me", b"hunter2")


@pytest.fixture(autouse=True)
def _nothing_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(plain_text, "_warned", set())
    caplog.set_level(logging.WARNING)


@pytest.mark.parametrize("url", ["mqtt://10.0.0.7", "ws://broker:80/mqtt", "MQTT://[fe80::1]:1883"])
@pytest.mark.parametrize(
    ("credentials", "told"),
    [
        (PASSWORD, "the password goes to"),
        (BrokerCredentials(token=b"hunter2"), "the token goes to"),
        (BrokerCredentials(token_file="file", authentication="password"), "the token goes to"),
    ],
)
def test_a_secret_in_clear_is_told_once(
    caplog: pytest.LogCaptureFixture, url: str, credentials: BrokerCredentials, told: str
) -> None:
    warn_of_plain_text(url, credentials)
    warn_of_plain_text(url, credentials)
    assert len(caplog.records) == 1
    assert told in caplog.text
    assert url in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    ("url", "credentials"),
    [
        ("mqtts://broker", PASSWORD),
        ("wss://broker", PASSWORD),
        ("unix:/run/slipring.sock", PASSWORD),
        ("mqtt://localhost", PASSWORD),
        ("mqtt://127.0.0.1:1883", PASSWORD),
        ("mqtt://[::1]:1883", PASSWORD),
        ("mqtt://broker", BrokerCredentials()),
        ("mqtt://broker", BrokerCredentials("me", b"hunter2", authentication="scram")),
    ],
)
def test_nothing_is_told_where_nobody_can_read_it(
    caplog: pytest.LogCaptureFixture, url: str, credentials: BrokerCredentials
) -> None:
    warn_of_plain_text(url, credentials)
    assert caplog.text == ""
