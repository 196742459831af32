"""`slipring password` prints the verifier to store for a user, and never the password."""

import os
import pty
import subprocess
import tomllib
from pathlib import Path

import pytest

from slipring.control.config import load_config
from tests.auth.scram import salt_of, verifier
from tests.cli.commands import command

COMMAND = command("password")


@pytest.mark.parametrize("line", [b"pencil\n", b"pencil\r\nnot read\n", b"pencil"])
def test_the_command_takes_a_line_of_standard_input(line: bytes, tmp_path: Path) -> None:
    made = subprocess.run(COMMAND, input=line, capture_output=True, check=True)
    assert made.stderr == b""
    (stored,) = tomllib.loads(made.stdout.decode()).values()
    assert stored == verifier("pencil", salt_of(stored))
    file = tmp_path / "broker.toml"
    file.write_text(f"[[user]]\nname = 'gripen'\n{made.stdout.decode()}")
    assert load_config(file).user[0].password.get_secret_value() == stored


def test_the_command_says_what_is_wrong() -> None:
    refused = subprocess.run(COMMAND, input=b"\xff\n", capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert refused.stderr == b"slipring: the password is not UTF-8\n"


def test_the_command_asks_twice_at_a_terminal_and_shows_nothing() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        COMMAND,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        close_fds=True,
    )
    os.close(theirs)
    shown = b""
    for _ in range(2):
        while not shown.endswith(b": "):
            shown += os.read(ours, 1_000)
        os.write(ours, b"pencil\n")
        shown += os.read(ours, 2)
    made, _ = process.communicate(timeout=60)
    os.close(ours)
    assert made.startswith(b'password = "SCRAM-SHA-256$4096:')
    assert b"pencil" not in shown
