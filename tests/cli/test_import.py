"""`slipring import`: into a broker, into a journal, and what it says when it is broken off."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from slipring.native import JournalReader
from tests.cli.commands import refused, slipring, started
from tests.limited_broker import Limited
from tests.metrics import Metrics
from tests.recording.messages import exported, record
from tests.running_broker import RunningBroker

BATCH = 16_384
"""Lines that are taken in together."""


def write_lines(file: Path, count: int, *bad: int) -> Path:
    rows = (json.dumps({"topic": "a", "payload": str(number)}) for number in range(count))
    file.write_text("".join(f"{'?' if at in bad else row}\n" for at, row in enumerate(rows)))
    return file


def payloads(folder: Path) -> list[str]:
    return [json.loads(line)["payload"] for line in exported(folder).splitlines()]


def test_a_broker_acknowledges_every_message(tmp_path: Path, broker: RunningBroker) -> None:
    properties = b"\x03\x00\x01x"
    record(tmp_path / "j", [(5, "p", f"t/{at}", at % 3, properties, b"%d" % at) for at in range(9)])
    record(tmp_path / "j", [(6, "p", "kept", 4, b"", b"\xff")])
    slipring("export", tmp_path / "j", tmp_path / "file.parquet")
    done = slipring("import", tmp_path / "file.parquet", "--to", broker.url)
    assert done.stdout == f"10 messages acknowledged by {broker.url}\n"
    found = [json.loads(line) for line in exported(broker.data).splitlines()]
    assert [row["topic"] for row in found] == [*(f"t/{at}" for at in range(9)), "kept"]
    assert {row["qos"] for row in found} == {1}
    assert [row["retain"] for row in found] == [False] * 9 + [True]
    assert [row.get("content_type") for row in found] == ["x"] * 9 + [None]
    assert found[-1]["payload_base64"] == "/w=="


def test_standard_input_is_lines(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "messages.jsonl", 3)
    process = started("import", file, "--journal", tmp_path / "journal")
    assert process.communicate(timeout=60)[0] == f"3 messages in {tmp_path / 'journal'}\n"
    assert payloads(tmp_path / "journal") == ["0", "1", "2"]


def test_bad_rows_are_counted(tmp_path: Path, broker: RunningBroker) -> None:
    file = write_lines(tmp_path / "messages.jsonl", 10, 3, 7)
    done = slipring("import", file, "--to", broker.url, "--skip-bad")
    assert done.stdout.endswith(", 2 bad rows skipped\n")
    assert payloads(broker.data) == ["0", "1", "2", "4", "5", "6", "8", "9"]


def test_a_bad_row_says_how_to_go_on(tmp_path: Path, broker: RunningBroker) -> None:
    file = write_lines(tmp_path / "messages.jsonl", 10, 3)
    line = refused("import", file, "--to", broker.url)
    assert "messages.jsonl, line 4: not JSON" in line
    assert line.endswith("3 messages acknowledged: continue after them with --skip 3")
    slipring("import", file, "--to", broker.url, "--skip", "4")
    assert payloads(broker.data) == ["0", "1", "2", "4", "5", "6", "7", "8", "9"]


def test_a_message_the_broker_does_not_take_is_named(tmp_path: Path, limited: Limited) -> None:
    broker = limited(topic_levels=2).running
    file = tmp_path / "messages.jsonl"
    rows = [{"topic": topic, "payload": ""} for topic in ("a", "a/b", "a/b/c", "d")]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    line = refused("import", file, "--url", broker.url)
    assert "continue after them with --skip 2" in line, line


def test_a_journal_that_a_broker_has_open_is_left_alone(
    tmp_path: Path, broker: RunningBroker
) -> None:
    file = write_lines(tmp_path / "messages.jsonl", 1)
    assert "running" in refused("import", file, "--journal", broker.data)


def test_one_place_to_go_to(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "messages.jsonl", 1)
    slipring("import", file, "--to", "mqtt://127.0.0.1:1", "--journal", tmp_path, code=2)
    assert "127.0.0.1:1" in refused("import", file, "--to", "mqtt://127.0.0.1:1")


def is_in(folder: Path) -> bool:
    """Whether one chunk has arrived in a journal's folder."""
    return bool(list(folder.glob("*.seg"))) and JournalReader(folder).end_offset() >= BATCH


def is_acknowledged(broker: RunningBroker) -> bool:
    """Whether a broker has acknowledged one chunk; who sent it may be about to hear of it."""
    return Metrics.of(broker)['slipring_messages_acknowledged_total{level="disk"}'] >= BATCH


def is_all_read(broker: RunningBroker) -> bool:
    """Whether nothing is on its way between a broker and its clients: all was read."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    port = f":{broker.port:04X}"
    ways = [row[4] for row in rows if row[1].endswith(port) or row[2].endswith(port)]
    return all(queues == "00000000:00000000" for queues in ways)


def heard_of(line: str) -> int:
    """How many messages were acknowledged, by a line that says to continue after just those."""
    found = re.search(
        r"([\d,]+) messages acknowledged: continue after them with --skip (\d+)", line
    )
    assert found, line
    assert found[1] == f"{int(found[2]):,}"
    return int(found[2])


def interrupted(fifo: Path, has_arrived: Callable[[], bool], *arguments: str | Path) -> str:
    """What an import says that is broken off when one chunk has arrived."""
    process = started("import", fifo, *arguments)
    with fifo.open("wb") as stream:
        row = b'{"topic": "a", "payload": "1"}\n'
        stream.write(row * (BATCH + 5))
        stream.flush()
        while not has_arrived():
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    return errors.splitlines()[-1]


def test_a_broker_that_goes_away_is_told_with_what_it_acknowledged(
    fifo: Path, broker: RunningBroker
) -> None:
    process = started("import", fifo, "--to", broker.url)
    with fifo.open("wb") as stream:
        row = b'{"topic": "a", "payload": "1"}\n'
        stream.write(row * (BATCH + 5))
        stream.flush()
        while not (is_acknowledged(broker) and is_all_read(broker)):
            assert process.poll() is None, process.communicate()
        broker.stop(signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "lost the connection" in errors
    assert 0 < heard_of(errors) <= BATCH


def test_an_import_does_not_wait_for_ever_for_a_broker_that_is_gone(
    fifo: Path, broker: RunningBroker
) -> None:
    process = started("import", fifo, "--to", broker.url)
    with fifo.open("wb") as stream:
        row = b'{"topic": "a", "payload": "1"}\n'
        stream.write(row * BATCH)
        stream.flush()
        while not is_acknowledged(broker):
            assert process.poll() is None, process.communicate()
        broker.stop(signal.SIGKILL)
        stream.write(row * BATCH)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert 0 < heard_of(errors) <= BATCH


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_an_interrupt_says_what_is_in_the_journal(tmp_path: Path, fifo: Path) -> None:
    folder = tmp_path / "journal"
    line = interrupted(fifo, lambda: is_in(folder), "--journal", folder)
    assert line.endswith(
        f"{BATCH:,} messages in the journal: continue after them with --skip {BATCH}"
    )
    assert len(payloads(folder)) == BATCH


def test_an_interrupt_says_what_was_acknowledged(fifo: Path, broker: RunningBroker) -> None:
    line = interrupted(fifo, lambda: is_acknowledged(broker), "--to", broker.url)
    assert 0 < heard_of(line) <= BATCH
    assert len(payloads(broker.data)) == BATCH


def test_the_help_has_an_example() -> None:
    assert "slipring import flight.parquet --to" in slipring("import", "--help").stdout


def test_a_broker_that_starts_on_an_imported_journal_has_the_retained_messages(
    tmp_path: Path,
) -> None:
    row = {"topic": "kept", "payload": "1", "retain": True, "qos": 1}
    (tmp_path / "messages.jsonl").write_text(json.dumps(row))
    (tmp_path / "data" / "journal").mkdir(parents=True)
    slipring("import", tmp_path / "messages.jsonl", "--journal", tmp_path / "data")
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    found = slipring("sub", "#", "--count", "1", "--format", "json", "--url", broker.url).stdout
    assert broker.stop()[0] == 0
    assert json.loads(found) == {"topic": "kept", "payload": "1", "retain": True}
