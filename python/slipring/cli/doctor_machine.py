"""Checks of the machine: versions, Java, limits, memory, clock. Changes nothing."""

import ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from slipring.cli.display import size
from slipring.cli.doctor_finding import Finding, note, ok, wrong

PYTHON_MIN = (3, 11)
JAVA_MIN = 17
JAVA_S = 10.0
FILES_MIN = 4096
MEMORY_MIN = 1 << 30
STEP_S = 0.2
STEP_NS_MAX = 20_000_000
CLOCK_IS_NOT_SYNCHRONISED = 5
"""TIME_ERROR, as adjtimex(2) returns it."""
TIMEX_BYTES = 512
"""More than struct timex has; all zero, so that adjtimex changes nothing."""
NAME = re.compile(r"[A-Za-z0-9._-]+")


def versions() -> Iterator[Finding]:
    """Python, our package, its native module, and what it needs."""
    running = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= PYTHON_MIN:
        yield ok("python", f"{running}, {sys.executable}")
    else:
        yield wrong("python", running, "install Python 3.11 or newer, and slipring there")
    from slipring import __version__ as native_version

    try:
        installed = metadata.version("slipring")
    except metadata.PackageNotFoundError:
        yield note("slipring", f"{native_version}, not installed", "pip install slipring")
        return
    if installed != native_version:
        said = f"the package is {installed}, its native module {native_version}"
        yield wrong("slipring", said, "pip install --force-reinstall slipring")
    else:
        yield ok("slipring", f"{installed}, with its native module")
    yield _packages()


def _packages() -> Finding:
    needed = [text for text in metadata.requires("slipring") or () if "extra ==" not in text]
    names = [found.group() for text in needed if (found := NAME.match(text))]
    missing = [name for name in names if not _is_installed(name)]
    if missing:
        return wrong("packages", f"missing: {', '.join(missing)}", "pip install slipring")
    return ok("packages", f"all {len(names)} that slipring needs")


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def java() -> Iterator[Finding]:
    """Spark, and the Java that it would start."""
    if not _is_installed("pyspark"):
        remedy = "for the pipeline: pip install 'slipring[spark]', and Java 17 or 21"
        yield note("spark", "not installed; all but the pipeline works without it", remedy)
        return
    yield ok("spark", f"pyspark {metadata.version('pyspark')}")
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    install = "install Java 17 or 21, such as apt install openjdk-17-jre-headless, or set JAVA_HOME"
    if program is None or not Path(program).exists():
        yield wrong("java", f"JAVA_HOME is {home}" if home else "none on the path", install)
        return
    yield _java_version(program, install)


def _java_version(program: str, install: str) -> Finding:
    try:
        done = subprocess.run(
            [program, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=JAVA_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return wrong("java", f"{program} -version does not end", install)
    found = re.search(r'version "(\d+)[^"]*"', done.stderr + done.stdout)
    if found is None or done.returncode:
        return wrong("java", f"{program} does not tell its version", install)
    if int(found[1]) < JAVA_MIN:
        return wrong("java", f"{program} is {found[1]}; Spark needs {JAVA_MIN}", install)
    return ok("java", f"{found[0].split(' ', 1)[1]} in {program}")


def limits() -> Iterator[Finding]:
    """Open files, core dumps, memory."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < FILES_MIN:
        remedy = "each client takes one: ulimit -n 65536, or LimitNOFILE=65536 in systemd"
        yield note("open files", f"{soft:,} at most, the limit may go to {hard:,}", remedy)
    else:
        yield ok("open files", "no limit" if soft == resource.RLIM_INFINITY else f"{soft:,}")
    if resource.getrlimit(resource.RLIMIT_CORE)[0]:
        remedy = "a dump has passwords in it: ulimit -c 0; a broker with users writes none anyway"
        yield note("core dumps", "allowed", remedy)
    else:
        yield ok("core dumps", "off")
    yield from _memory()


def _memory() -> Iterator[Finding]:
    facts = dict(re.findall(r"(\w+):\s+(\d+) kB", _text("/proc/meminfo")))
    if "MemAvailable" not in facts:
        return
    free = int(facts["MemAvailable"]) * 1024
    ceiling = _text("/sys/fs/cgroup/memory.max").strip()
    free = min(free, int(ceiling)) if ceiling.isdigit() else free
    said = f"{size(free)} available of {size(int(facts['MemTotal']) * 1024)}"
    if free < MEMORY_MIN:
        yield note("memory", said, "end other programs, or bound the broker: slipring memory 256MB")
    else:
        yield ok("memory", said)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def clock() -> Iterator[Finding]:
    """Whether the clock runs evenly, and whether it is synchronised, if that can be known."""
    wall_ns, steady_ns = time.time_ns(), time.monotonic_ns()
    time.sleep(STEP_S)
    step_ns = (time.time_ns() - wall_ns) - (time.monotonic_ns() - steady_ns)
    if abs(step_ns) > STEP_NS_MAX:
        said = f"it stepped by {step_ns / 1e6:.1f} ms within {STEP_S:g} s"
        yield wrong("clock", said, "let NTP slew it: chrony, or systemd-timesyncd")
        return
    state = _kernel_clock()
    if state == CLOCK_IS_NOT_SYNCHRONISED:
        remedy = (
            "ages need true time: timedatectl set-ntp true, or chrony; in a container, the host"
        )
        yield note("clock", "the kernel calls it not synchronised", remedy)
    else:
        said = "runs evenly" if state < 0 else "runs evenly, synchronised"
        yield ok("clock", said)


def _kernel_clock() -> int:
    """The state that adjtimex(2) returns; negative where there is none."""
    try:
        ask = ctypes.CDLL(None).adjtimex
    except (OSError, AttributeError):
        return -1
    return int(ask(ctypes.create_string_buffer(TIMEX_BYTES)))
