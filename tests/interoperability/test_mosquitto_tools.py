"""Mosquitto's command-line tools: every QoS, retained messages, sessions, wills (T1, V1)."""

import subprocess

import pytest

from tests.running_broker import RunningBroker

WAIT_S = 60
VERSIONS = pytest.mark.parametrize("version", ["mqttv31", "mqttv311", "mqttv5"])
KEPT = {"mqttv31": [], "mqttv311": [], "mqttv5": ["-x", "600"]}
"""How a session is kept: `-c` alone does it in MQTT 3.1 and 3.1.1."""


def run(tool: str, broker: RunningBroker, version: str, *arguments: str) -> str:
    command = [tool, "-h", broker.host, "-p", str(broker.port), "-V", version, *arguments]
    done = subprocess.run(command, check=True, timeout=WAIT_S, stdout=subprocess.PIPE, text=True)
    return done.stdout


@VERSIONS
@pytest.mark.parametrize("qos", ["1", "2"])
def test_a_session_gets_its_messages_at_every_qos(
    standing_broker: RunningBroker, name: str, version: str, qos: str
) -> None:
    session = ["-i", f"{name}-s", "-c", *KEPT[version], "-t", f"{name}/#", "-q", qos]
    run("mosquitto_sub", standing_broker, version, *session, "-E")
    for number in range(3):
        sent = ["-t", f"{name}/{number}", "-m", f"value {number}", "-q", qos]
        run("mosquitto_pub", standing_broker, version, *sent)
    listen = [*session, "-C", "3", "-F", "%t %p %q %r"]
    got = run("mosquitto_sub", standing_broker, version, *listen)
    assert got.splitlines() == [f"{name}/{n} value {n} {qos} 0" for n in range(3)]


@VERSIONS
@pytest.mark.parametrize("qos", ["0", "1", "2"])
def test_a_retained_message_is_there_for_those_who_come_later(
    standing_broker: RunningBroker, name: str, version: str, qos: str
) -> None:
    run("mosquitto_pub", standing_broker, version, "-t", name, "-m", "kept", "-q", qos, "-r")
    listen = ["-t", name, "-q", "2", "-C", "1", "-F", "%t %p %q %r"]
    assert run("mosquitto_sub", standing_broker, version, *listen) == f"{name} kept {qos} 1\n"


@VERSIONS
def test_a_retained_message_is_removed_by_an_empty_one(
    standing_broker: RunningBroker, name: str, version: str
) -> None:
    run("mosquitto_pub", standing_broker, version, "-t", f"{name}/a", "-m", "kept", "-r", "-q", "1")
    run("mosquitto_pub", standing_broker, version, "-t", f"{name}/b", "-m", "kept", "-r", "-q", "1")
    run("mosquitto_pub", standing_broker, version, "-t", f"{name}/a", "-n", "-r", "-q", "1")
    got = run("mosquitto_sub", standing_broker, version, "-t", f"{name}/#", "-C", "1", "-v")
    assert got == f"{name}/b kept\n"


@VERSIONS
def test_the_will_of_a_killed_subscriber_is_published(
    standing_broker: RunningBroker, name: str, version: str
) -> None:
    """The will is retained, so that it is there whenever we look."""
    address = ["-h", standing_broker.host, "-p", str(standing_broker.port), "-V", version]
    will = ["--will-topic", f"{name}/will", "--will-payload", "gone", "--will-retain"]
    run(
        "mosquitto_pub",
        standing_broker,
        version,
        "-t",
        f"{name}/in",
        "-m",
        "hello",
        "-r",
        "-q",
        "1",
    )
    command = ["mosquitto_sub", *address, *will, "-t", f"{name}/in"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as subscriber:
        assert subscriber.stdout is not None
        assert subscriber.stdout.readline() == "hello\n"
        subscriber.kill()
    got = run("mosquitto_sub", standing_broker, version, "-t", f"{name}/will", "-C", "1")
    assert got == "gone\n"
