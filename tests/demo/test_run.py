"""The demo as a newcomer runs it: all comes up, Ctrl-C ends all, nothing is lost (D1)."""

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import slipring.lake
from slipring.demo.run import Demo

ANY = ("--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0")


@pytest.mark.timeout(900)
def test_ctrl_c_lands_the_aircraft_and_the_lake_has_every_sample(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "slipring", "demo", "--data", str(tmp_path / "demo"), *ANY]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as demo:
        assert demo.stdout is not None
        said = ""
        while " in the lake, lag " not in said:
            line = demo.stdout.readline()
            assert line, f"the demo ended early: {said}"
            said += line
        assert "the newest 4 GB stay there, 2 GB in the journal" in said
        console = re.search(r"console +(http://\S+)", said)
        assert console
        with urllib.request.urlopen(f"{console[1]}/api/overview", timeout=60) as overview:
            assert b'"client_id":"gripen-39-7-derived"' in overview.read()
        demo.send_signal(signal.SIGINT)
        said, complaints = demo.communicate(timeout=250)
    assert demo.returncode == 0, complaints
    assert "no parameter at" not in complaints, "who calculates waits for what it chooses"
    done = re.search(r"done: ([\d,]+) samples published, .* journaled, \1 rows in the lake", said)
    assert done, said
    lake = slipring.lake.open(tmp_path / "demo" / "lake")
    assert lake.table("samples").status().rows == int(done[1].replace(",", ""))
    derived = lake.query("SELECT count(*) AS n FROM samples WHERE parameter LIKE '%/derived/%'")
    assert derived["n"][0].as_py() > 0, "what the computing client publishes arrives, too"


async def test_seconds_are_counted_from_the_take_off(tmp_path: Path) -> None:
    """However long the broker takes to start, the shortest flight writes a row."""
    demo = Demo(tmp_path / "demo", keep_bytes=0)
    demo.lake.missing = "this flight needs none"
    await demo.run("127.0.0.1:0", "127.0.0.1:0", seconds=0)
    assert demo.flight.samples >= 20_000
