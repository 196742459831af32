"""Progress: lines where there is no terminal, a bar where there is one."""

import os
import pty
import subprocess
from pathlib import Path

from slipring.cli.progress import ProgressDisplay
from tests.cli.commands import command
from tests.journal_messages import write_messages


def test_a_line_has_rate_share_and_time_left() -> None:
    shown = ProgressDisplay("exporting", 400)
    assert shown.line(50, 100, 2.0) == "exporting: 50 messages, 25/s, 25%, 6 s left"
    assert ProgressDisplay("importing", None).line(50, 100, 2.0) == "importing: 50 messages, 25/s"
    checking = ProgressDisplay("checking", 4_000, "bytes")
    assert checking.line(2_000, 2_000, 1.0) == "checking: 2.0 kB, 2.0 kB/s, 50%, 1 s left"


def test_a_terminal_gets_a_bar_and_a_file_does_not(tmp_path: Path) -> None:
    write_messages(tmp_path / "journal", 10)
    export = command("export", tmp_path / "journal", tmp_path / "out.jsonl")
    assert "━" in on_a_terminal(export)
    plain = subprocess.run(export, capture_output=True, text=True, check=True, timeout=60)
    assert len(plain.stderr.splitlines()) == 1


def on_a_terminal(arguments: list[str]) -> str:
    """What a command writes to a terminal as its standard error."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(arguments, stderr=theirs, env=os.environ | {"TERM": "xterm"}) as process:
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
    return written.decode()
