"""What a check of `slipring doctor` found; and checks that run side by side, each with a bound."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from slipring.errors import SlipringError

CHECK_S = 20.0
"""A check that takes longer is given up."""


class State(StrEnum):
    """How good it is."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One line, and what to do about it."""

    name: str
    state: State
    said: str
    remedy: str = ""


def ok(name: str, said: str) -> Finding:
    """It is as it should be."""
    return Finding(name, State.OK, said)


def note(name: str, said: str, remedy: str) -> Finding:
    """It works, and could be better."""
    return Finding(name, State.NOTE, said, remedy)


def wrong(name: str, said: str, remedy: str) -> Finding:
    """It does not work."""
    return Finding(name, State.WRONG, said, remedy)


Check = Callable[[], Sequence[Finding]]


class _RunningCheck:
    """A check in a thread of its own. The thread is a daemon: who hangs keeps nobody waiting."""

    def __init__(self, name: str, check: Check) -> None:
        self._name = name
        self._check = check
        self._found: Sequence[Finding] | None = None
        self._thread = threading.Thread(target=self._run, name=f"doctor-{name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._check()
        except (SlipringError, OSError) as error:
            remedy = "mend what it names, and run slipring doctor again"
            self._found = [wrong(self._name, str(error), remedy)]
        except Exception as error:  # noqa: BLE001 (a check that fails must not hide the others)
            said = f"the check itself failed: {type(error).__name__}"
            self._found = [wrong(self._name, said, "tell us, with this line")]

    def found(self, bound_s: float) -> Sequence[Finding]:
        self._thread.join(bound_s)
        if self._found is not None:
            return self._found
        said = f"no result after {bound_s:g} s"
        return [wrong(self._name, said, "something it asks hangs: a disk, a network, a program")]


def run_checks(checks: dict[str, Check], bound_s: float = CHECK_S) -> list[Finding]:
    """The findings of all checks, in their order."""
    running = [_RunningCheck(name, check) for name, check in checks.items()]
    return [finding for one in running for finding in one.found(bound_s)]
