"""`slipring pipeline run` tells how far each job is: lines, or a table on a terminal (D1)."""

import io
import os
import pty
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from slipring.cli.display import lag
from slipring.cli.pipeline_display import STILL_S, PipelineDisplay, job_line
from slipring.journal.consumer_note import ConsumerNote
from slipring.journal.count_rates import READ
from slipring.journal.location import JournalFolder
from slipring.pipeline.destination import LakeCommit
from slipring.pipeline.progress import JobReport
from slipring.pipeline.run_jobs import JobProgress
from tests.cli.commands import command
from tests.journal_messages import write_messages

NOTE = ConsumerNote({"samples": 24_000, "set_aside": 3}, {"samples": 500})


def report(
    behind: int | None,
    lag_s: float | None,
    note: ConsumerNote = NOTE,
    rates: Mapping[str, float] | None = None,
) -> JobReport:
    return JobReport("archive", 1_635, note, 0.26, behind, lag_s, rates or {})


def test_a_line_has_lag_throughput_the_last_commit_and_what_was_set_aside() -> None:
    assert job_line(report(12, 0.44, NOTE, {READ: 33.2, "samples": 1_002_311.2})) == (
        "archive: up to offset 1,635; lag 0.4 s, 12 messages behind; 33 messages/s, "
        "1,002,311 samples/s; last batch 0.3 s ago: 500 samples; 3 set aside"
    )
    assert job_line(report(0, 0.0, ConsumerNote())) == (
        "archive: up to offset 1,635; lag 0.0 s, 0 messages behind; last batch 0.3 s ago"
    )


def test_a_long_lag_has_fewer_digits() -> None:
    lags = (0.04, 59.94, 97.4, 599.4, 600.0, 90_000.0, None)
    assert [*map(lag, lags)] == ["0.0 s", "59.9 s", "97 s", "599 s", "10 min", "1 d", ""]


def test_a_journal_that_cannot_be_asked_leaves_the_lag_unknown() -> None:
    assert "; lag unknown; last batch" in job_line(report(None, None))
    assert "; lag unknown, 5 messages behind;" in job_line(report(5, None))


def test_a_run_without_a_terminal_prints_how_far_it_came(tmp_path: Path) -> None:
    write_messages(tmp_path / "journal", 10)
    run = command("pipeline", "run", "--once", "--data", tmp_path)
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines()[-1] == ("  archive: 10 messages into the lake, up to offset 10")
    assert "\x1b" not in done.stdout


def test_a_terminal_gets_the_same_end(tmp_path: Path) -> None:
    write_messages(tmp_path / "journal", 10)
    ours, theirs = pty.openpty()
    run = command("pipeline", "run", "--once", "--data", tmp_path)
    with subprocess.Popen(run, stdout=theirs, env=os.environ | {"TERM": "xterm"}) as process:
        os.close(theirs)
        written = b""
        try:
            while data := os.read(ours, 65_536):
                written += data
        except OSError:  # the other side is closed
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0
    assert "archive: 10 messages into the lake, up to offset 10" in written.decode()


def test_the_first_batch_of_a_job_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written by a thread: what `capsys` takes out of its buffer meanwhile could be lost."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdout", written)
    write_messages(tmp_path, 10)
    with PipelineDisplay(JournalFolder(str(tmp_path))) as display:
        display.step("reading")
        display.archived(LakeCommit(0, 0, 4, {"messages": 4}, 1))
        note = ConsumerNote({"rollup_1s": 2}, {"rollup_1s": 2})
        display.taken(JobProgress("rollup", 0, 10, note))
        given_up_s = time.monotonic() + 60
        while "archive: " not in (told := written.getvalue()) or "rollup: " not in told:
            assert time.monotonic() < given_up_s
    archive, rollup = (line for line in told.splitlines() if " lag " in line)
    assert archive.startswith("  archive: up to offset 4; lag ")
    assert ", 6 messages behind; last batch " in archive
    assert "  rollup: up to offset 10; lag 0.0 s, 0 messages behind; " in rollup
    assert rollup.endswith(": 2 rollup 1s")
    assert written.getvalue().removeprefix(told).splitlines() == [
        "  archive: 4 messages into the lake, up to offset 4",
        "  rollup: 2 rollup 1s into the lake, up to offset 10",
    ]


def test_a_job_that_stands_still_is_told_seldom_and_only_while_it_is_behind(
    tmp_path: Path,
) -> None:
    display = PipelineDisplay(JournalFolder(str(tmp_path)))
    behind, done = report(5, 1.0), JobReport("rollup", 9, NOTE, 0.0, 0, 0.0)
    times_s = (0.0, 5.0, STILL_S, STILL_S + 5)
    assert [display._is_due(behind, now_s) for now_s in times_s] == [True, False, True, False]
    assert [display._is_due(done, now_s) for now_s in times_s] == [True, False, False, False]
