"""The failing disk does what its panel says, and its trace tells what is safe. No broker here."""

import signal
import subprocess
import sys
from random import Random

import pytest

from tests.faults.disk import Disk
from tests.faults.platter import Platter

HEADER = "import os, time\nos.chdir({folder!r})\n"


def run(disk: Disk, script: str) -> subprocess.CompletedProcess[str]:
    """A program that works in the folder; `w` appends, `s` syncs, `d` syncs the folder."""
    verbs = (
        "f = os.open('a', os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "w = lambda text: os.write(f, text)\n"
        "s = lambda: os.fdatasync(f)\n"
        "d = lambda: os.fsync(os.open('.', os.O_RDONLY))\n"
    )
    program = HEADER.format(folder=str(disk.folder)) + verbs + script
    return subprocess.run(
        [sys.executable, "-S", "-c", program],
        env=disk.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def after(disk: Disk, script: str) -> Platter:
    """An empty folder after such a program; the trace tells it as it is."""
    platter = Platter(disk.folder)
    run(disk, script)
    platter.follow(disk.trace.read_bytes())
    assert platter.differences() == []
    return platter


def contents(platter: Platter, choice: Random | None = None) -> dict[str, bytes]:
    return {name: bytes(file.safe) for name, file in platter.left(choice).items()}


def test_a_disk_with_no_knob_turned_is_a_disk(disk: Disk) -> None:
    platter = after(disk, "w(b'one'); s(); d(); os.rename('a', 'b'); d(); w(b'two')")
    assert (disk.folder / "b").read_bytes() == b"onetwo"
    assert contents(platter) == {"b": b"one"}
    assert disk.panel.calls == 7


def test_bytes_are_safe_when_their_sync_has_ended_and_names_when_that_of_the_folder_has(
    disk: Disk,
) -> None:
    assert contents(after(disk, "w(b'one'); s()")) == {}
    disk.trace.unlink()
    assert contents(after(disk, "w(b'two'); s(); w(b'three')")) == {"a": b"onetwo"}


def test_a_rename_a_removal_and_a_new_folder_are_safe_with_the_folder_they_are_in(
    disk: Disk,
) -> None:
    platter = after(disk, "w(b'1'); s(); d(); os.mkdir('c'); os.rename('a', 'c/a'); os.mkdir('e')")
    assert contents(platter) == {"a": b"1"}
    disk.trace.unlink()
    platter = Platter(disk.folder)
    run(disk, "os.unlink('a'); os.unlink('c/a'); os.rmdir('c'); d()")
    platter.follow(disk.trace.read_bytes())
    assert contents(platter) == {"e": b""}


def test_a_file_written_over_keeps_its_safe_bytes(disk: Disk) -> None:
    script = "w(b'old bytes'); s(); d(); os.truncate(f, 3); os.pwrite(f, b'X', 1)"
    platter = after(disk, script)
    assert contents(platter) == {"a": b"old bytes"}
    assert platter.names["a"].bytes_now() == (disk.folder / "a").read_bytes()


def test_a_cut_leaves_what_is_safe_and_any_of_the_rest(disk: Disk) -> None:
    platter = after(disk, "w(b's' * 5000); s(); d(); w(b'u' * 9000); w(b'v' * 9000)")
    left = {contents(platter, Random(seed))["a"] for seed in range(200)}
    assert {content[:5_000] for content in left} == {b"s" * 5_000}
    assert {len(content) for content in left} == {5_000, 14_000, 23_000}
    assert any(b"\0" in content for content in left)


def test_a_cut_is_laid_down_in_the_folder(disk: Disk) -> None:
    platter = after(disk, "w(b'one'); s(); os.mkdir('c'); d(); w(b'two')")
    assert platter.cut() == 3
    assert (disk.folder / "a").read_bytes() == b"one"
    assert (disk.folder / "c").is_dir()


def test_what_the_trace_does_not_have_is_found(disk: Disk) -> None:
    platter = after(disk, "w(b'one')")
    (disk.folder / "a").write_bytes(b"other")
    (disk.folder / "b").touch()
    assert platter.differences() == ["b: not in the trace", "a: other bytes"]


@pytest.mark.parametrize(("calls", "left"), [(1, None), (2, b""), (3, b"one"), (4, b"one")])
def test_the_process_dies_at_the_call_that_was_chosen(
    disk: Disk, calls: int, left: bytes | None
) -> None:
    disk.stop_in(calls)
    assert run(disk, "w(b'one'); s(); w(b'two')").returncode == -signal.SIGKILL
    file = disk.folder / "a"
    assert (file.read_bytes() if file.exists() else None) == left


def test_the_process_dies_in_the_middle_of_a_write(disk: Disk) -> None:
    disk.stop_in(3, stop_bytes=2)
    platter = after(disk, "w(b'one'); w(b'two')")
    assert (disk.folder / "a").read_bytes() == b"onetw"
    assert platter.names["a"].bytes_now() == b"onetw"


def test_a_full_disk_takes_what_fits_and_room_that_is_freed_is_room_again(disk: Disk) -> None:
    disk.panel.room_bytes = 4
    script = (
        "assert w(b'one') == 3\nassert w(b'two') == 1\n"
        "try: w(b'x')\nexcept OSError as e: assert e.errno == 28\nelse: raise SystemExit(9)\n"
        "os.truncate(f, 2)\nassert w(b'xyz') == 2\n"
    )
    done = run(disk, script)
    assert done.returncode == 0, done.stderr
    assert (disk.folder / "a").read_bytes() == b"onxy"
    assert disk.panel.no_room == 3


@pytest.mark.parametrize("knob", ["sync_errno", "write_errno"])
def test_an_error_is_what_the_program_is_told(disk: Disk, knob: str) -> None:
    setattr(disk.panel, knob, 5)
    done = run(disk, "w(b'one'); s()")
    assert "Errno 5" in done.stderr


def test_a_sync_that_lies_makes_nothing_safe(disk: Disk) -> None:
    disk.panel.sync_lies = 1
    platter = after(disk, "w(b'one'); s(); d()")
    assert contents(platter) == {}
    assert disk.panel.syncs == 2


def test_a_sync_that_is_only_noted_makes_safe_what_a_real_one_does(disk: Disk) -> None:
    disk.panel.sync_noted = 1
    assert contents(after(disk, "w(b'one'); s(); d(); w(b'two')")) == {"a": b"one"}
    assert disk.panel.syncs == 2


@pytest.mark.parametrize("jump_s", [86_400.5, -86_400.5])
def test_the_clock_of_the_day_jumps_and_the_monotonic_one_does_not(
    disk: Disk, jump_s: float
) -> None:
    script = "print(time.time(), time.monotonic())"
    before = [float(word) for word in run(disk, script).stdout.split()]
    disk.panel.clock_ns = int(jump_s * 1e9)
    now = [float(word) for word in run(disk, script).stdout.split()]
    assert abs(now[0] - before[0] - jump_s) < 60
    assert 0 <= now[1] - before[1] < 60


def test_files_elsewhere_are_left_alone(disk: Disk) -> None:
    disk.panel.room_bytes, disk.panel.sync_errno = 0, 5
    script = "os.chdir('..'); g = os.open('b', os.O_CREAT | os.O_WRONLY); os.write(g, b'1')\n"
    assert run(disk, script + "os.fsync(g)").returncode == 0
