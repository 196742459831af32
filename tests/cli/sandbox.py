"""Runs a program within what a unit of systemd allows, as far as that needs no right of root.

    python tests/cli/sandbox.py UNIT PROGRAM [ARGUMENT...]

It reads SystemCallFilter, RestrictAddressFamilies, MemoryDenyWriteExecute, NoNewPrivileges and the
limits of the unit, and asks the kernel for them as systemd does: the first system call that is not
allowed ends the program by SIGSYS.
"""

import ctypes
import os
import re
import resource
import socket
import subprocess
import sys
from pathlib import Path

ALLOW, KILL = 0x7FFF0000, 0x80000000
NO_NEW_PRIVILEGES = 38
EQUAL, MASKED_EQUAL = 4, 7
WRITE_AND_EXECUTE, EXECUTE = 6, 4
PROTECTION = 2
"""Which argument of mmap and mprotect says what the memory is for."""


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` of libseccomp."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


class SystemCalls:
    """A filter of system calls: what happens to all, and what to some."""

    def __init__(self, otherwise: int) -> None:
        self._library = ctypes.CDLL("libseccomp.so.2")
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._library.seccomp_init.argtypes = (ctypes.c_uint32,)
        self._filter = ctypes.c_void_p(self._library.seccomp_init(otherwise))

    def add(self, action: int, name: str, *comparisons: Comparison) -> None:
        """A name that this machine's kernel does not have is left out."""
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        listed = (Comparison * len(comparisons))(*comparisons)
        rule = (self._filter, ctypes.c_uint32(action), number, len(comparisons), listed)
        if number >= 0:
            assert self._library.seccomp_rule_add_array(*rule) == 0, name

    def load(self) -> None:
        assert self._library.seccomp_load(self._filter) == 0


def allowed_calls(unit: dict[str, list[str]]) -> set[str]:
    """What SystemCallFilter leaves over."""
    first, *others = unit["SystemCallFilter"]
    allowed = calls_of(first)
    for one in others:
        assert one.startswith("~")
        allowed -= calls_of(one.removeprefix("~"))
    return allowed


def calls_of(group: str) -> set[str]:
    """The system calls of a group such as @system-service, with those of its inner groups."""
    shown = ["systemd-analyze", "--no-pager", "syscall-filter", group]
    text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    words = re.sub(r"#.*", "", text).split()
    inner = {word for word in words if word.startswith("@")} - {group}
    plain = set(words) - inner - {group}
    return plain.union(*map(calls_of, inner))


def enter(unit: dict[str, list[str]]) -> None:
    """From here on the process may do no more than the unit allows."""
    allowed = allowed_calls(unit)
    for limit, name in (
        (resource.RLIMIT_CORE, "LimitCORE"),
        (resource.RLIMIT_NOFILE, "LimitNOFILE"),
    ):
        most = resource.getrlimit(limit)[1]
        wanted = int(unit[name][0])
        both = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(limit, (both, both))
    assert unit["NoNewPrivileges"] == unit["MemoryDenyWriteExecute"] == ["yes"]
    assert ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    _memory().load()
    _families(unit["RestrictAddressFamilies"][0].split()).load()
    calls = SystemCalls(KILL)
    for name in sorted(allowed):
        calls.add(ALLOW, name)
    calls.load()


def _memory() -> SystemCalls:
    calls = SystemCalls(ALLOW)
    both = Comparison(PROTECTION, MASKED_EQUAL, WRITE_AND_EXECUTE, WRITE_AND_EXECUTE)
    calls.add(KILL, "mmap", both)
    for name in ("mprotect", "pkey_mprotect"):
        calls.add(KILL, name, Comparison(PROTECTION, MASKED_EQUAL, EXECUTE, EXECUTE))
    return calls


def _families(names: list[str]) -> SystemCalls:
    allowed = {getattr(socket, name).value for name in names}
    calls = SystemCalls(ALLOW)
    for family in set(range(64)) - allowed:
        calls.add(KILL, "socket", Comparison(0, EQUAL, family, 0))
    return calls


def read_unit(text: str) -> dict[str, list[str]]:
    """Every key of a unit with its values in order; an empty value is one, too."""
    unit: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            unit.setdefault(key, []).append(value)
    return unit


if __name__ == "__main__":
    enter(read_unit(Path(sys.argv[1]).read_text()))
    os.execv(sys.argv[2], sys.argv[2:])
