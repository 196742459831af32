"""`slipring export`: files that are whole or not there, and one line when something is wrong."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.commands import command, publish, refused, slipring, started
from tests.journal_messages import write_messages
from tests.recording.messages import record
from tests.running_broker import RunningBroker


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    write_messages(tmp_path / "journal", 20)
    return tmp_path / "journal"


def offsets(output: str) -> list[int]:
    return [json.loads(line)["offset"] for line in output.splitlines()]


def test_it_writes_parquet_and_lines_by_the_files_name(tmp_path: Path, journal: Path) -> None:
    done = slipring("export", journal, tmp_path / "out.parquet")
    assert done.stderr == f"20 messages in {tmp_path / 'out.parquet'}\n"
    slipring("export", journal, tmp_path / "out.jsonl")
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("offset").to_pylist() == [row["offset"] for row in found]
    assert b"slipring.journal" in table.schema.metadata


def test_places_and_filters_choose(journal: Path) -> None:
    done = slipring("export", journal, "-", "--from", "@4", "--to", "@9", "--filter", "demo/1")
    assert offsets(done.stdout) == [4, 7]
    everything = slipring("export", journal, "-", "--from", "2026-01-02", "--to", "-1s").stdout
    assert offsets(everything) == list(range(20))
    assert slipring("export", journal, "-", "--from", "-1s").stdout == ""
    exact = slipring("export", journal, "-", "--from", "2026-01-02T03:04:05.678901239Z").stdout
    assert offsets(exact) == list(range(5, 20))


def test_a_running_brokers_folder_can_be_exported(broker: RunningBroker) -> None:
    publish(broker, "a/b")
    row = json.loads(slipring("export", broker.data, "-").stdout)
    assert (row["topic"], row["payload"]) == ("a/b", "1")


def test_what_is_damaged_is_left_out_and_told(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    for number in range(3):
        record(folder, [(number, "p", "a", 0, b"", b"payload %d" % number)])
    segment = folder / f"{1:020}.seg"
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    done = slipring("export", folder, "-", code=1)
    assert offsets(done.stdout) == [0, 2]
    assert "left out: damaged journal" in done.stderr
    assert "offsets 1 to 2" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("{journal}", "{folder}/out.csv"), "--format"),
        (("{folder}/none", "{folder}/out.jsonl"), "no journal in"),
        (("{journal}", "{folder}/none/out.jsonl"), "cannot write"),
        (("{journal}", "-", "--from", "noon"), "-10m"),
        (("{journal}", "-", "--from", "@21"), "no offset 21"),
        (("{journal}", "-", "--filter", "a/#/b"), "a/#/b"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, journal: Path, arguments: tuple[str, ...], expected: str
) -> None:
    given = [text.format(journal=journal, folder=tmp_path) for text in arguments]
    assert expected in refused("export", *given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal"]


def test_a_failed_export_leaves_an_older_file_as_it_was(tmp_path: Path, journal: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    refused("export", journal, out, "--from", "@21")
    assert out.read_text() == "before"
    slipring("export", journal, out)
    assert offsets(out.read_text()) == list(range(20))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    write_messages(tmp_path / "journal", 300_000)
    process = started("export", tmp_path / "journal", tmp_path / "out.jsonl")
    while not list(tmp_path.glob(".out.jsonl.*.part")):
        assert process.poll() is None
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1].endswith("out.jsonl was not written")
    assert [path.name for path in tmp_path.iterdir()] == ["journal"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_ends_it_quietly(tmp_path: Path, unbuffered: str) -> None:
    write_messages(tmp_path / "journal", 30_000)
    with subprocess.Popen(
        command("export", tmp_path / "journal", "-"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"offset": 0')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_standard_output_without_room_is_told_in_a_line(tmp_path: Path, form: str) -> None:
    write_messages(tmp_path / "journal", 100)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("export", tmp_path / "journal", "-", "--format", form),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "slipring: cannot write standard output: No space left on device\n"


def test_the_help_has_an_example() -> None:
    assert "slipring export slipring-data flight.parquet" in slipring("export", "--help").stdout
