"""`slipring status`: a broker at a glance, or one line that says why not."""

import json
import re
import socket
import subprocess
import sys
import threading

import slipring.sync
from slipring import Parameter
from tests.limited_broker import Limited
from tests.metrics import Metrics
from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker


def status(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slipring", "status", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_shows_clients_limits_and_the_journal(limited: Limited) -> None:
    broker = limited(subscriptions=1)
    client = broker.client("[bold]a\x1b[2J", username="operator", keep_alive_s=60)
    client.send(V5.subscribe(1, "a", "b"), V5.publish("gripen/39-7/rpm", b"1"))
    client.settle()
    Metrics.when(broker.running, "slipring_journal_next_offset", 1)
    while "gripen/39-7" not in (shown := status(broker.running.console)).stdout:
        assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    rows = {words[0]: words[1:] for words in map(str.split, shown.stdout.splitlines()) if words}
    assert rows["[bold]a\\x1b[2J"][0] == "operator"
    assert rows["limits.subscriptions"][:2] == ["1", "1"]
    assert rows["gripen/39-7"][-2:] == ["1", "0"]
    assert rows["journal"][:2] == ["1", "messages,"]


def test_it_has_a_line_about_the_table(broker: RunningBroker) -> None:
    assert "no parameters" in status(broker.console).stdout
    with slipring.sync.connect(broker.url) as bus:
        bus.declare("a", {f"p{number}": Parameter("f64") for number in range(1_200)})
        shown = status(broker.console).stdout
    line = next(line for line in shown.splitlines() if line.startswith("table"))
    assert re.fullmatch(r"table +1,200 parameters, 0 stale, 0 samples/s in [01] frames/s *", line)


def test_as_json_it_is_what_the_console_tells(broker: RunningBroker) -> None:
    told = json.loads(status(broker.console, "--json").stdout)
    assert told["broker"]["mqtt"] == f"{broker.host}:{broker.port}"


def test_nothing_there_is_told_in_one_line(broker: RunningBroker) -> None:
    for address in (f"http://{broker.host}:{broker.port}", "127.0.0.1:1", "http://127.0.0.1:1"):
        result = status(address)
        assert (result.returncode, result.stdout) == (1, "")
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith("slipring: ")


def test_who_speaks_no_http_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        url = f"http://127.0.0.1:{other.getsockname()[1]}"

        def greet() -> None:
            with other.accept()[0] as connection:
                connection.recv(65_536)
                connection.sendall(b"220 mail.example ESMTP\r\n")

        greeting = threading.Thread(target=greet)
        greeting.start()
        refused = status(url)
        greeting.join()
    assert refused.returncode == 1
    assert f"no broker's console answers at {url}: 220 mail.example" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_help_has_an_example() -> None:
    assert "slipring status http://127.0.0.1:8080 --json" in status("--help").stdout


def test_in_a_pipe_no_name_is_cut_off(limited: Limited) -> None:
    broker = limited()
    name = "gripen-" + "7" * 120
    client = broker.client(name, keep_alive_s=60)
    client.settle()
    assert name in status(broker.running.console).stdout
