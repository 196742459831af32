"""Shells complete our commands and options."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import SLIPRING, run, slipring
from tests.cli.terminal import terminal

BASH = ("bash", "--noprofile", "--norc", "-i")


def test_bash_completes_commands_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(SLIPRING).parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PS1", "READY ")
    with terminal(BASH) as shell:
        shell.wait_for(rb"READY ")
        shell.type(b"source <(slipring completion bash)\n")
        shell.wait_for(rb"completion bash.*READY ")
        shell.type(b"slipring journ\t")
        shell.wait_for(rb"slipring journal ")
        shell.type(b"salv\t")
        shell.wait_for(rb"salvage ")
        shell.type(b"\x15slipring sub --dead\t")
        shell.wait_for(rb"--deadband ")
        shell.type(b"\x15slipring sub --format \t\t")
        shown = shell.wait_for(rb"text")
        assert b"json" in shown
        shell.type(b"\x15exit\n")
        assert shell.end()[0] == 0


def test_zsh_finds_the_script_in_its_folder_and_completes_at_the_first_tab() -> None:
    """It reads the first line of each file there, and the whole file when it is needed."""
    first, *rest = slipring("completion", "zsh").stdout.splitlines()
    assert first == "#compdef slipring"
    when_loaded = rest.index("if [[ $zsh_eval_context[-1] == loadautofunc ]]; then")
    assert rest[when_loaded + 1] == '  _slipring_completion "$@"'


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_one_that_its_shell_reads(shell: str) -> None:
    script = slipring("completion", shell).stdout
    assert "_SLIPRING_COMPLETE" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("shell", "asked"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "slipring jour"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "slipring jour", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    ],
)
async def test_what_a_script_asks_is_answered(
    shell: str, asked: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("_SLIPRING_COMPLETE", f"complete_{shell}")
    code, out, err = await run()
    assert (code, err) == (0, b"")
    assert b"journal" in out


def test_it_is_installed_for_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    # Not `-c`: bash would become the command, and not be the shell that it is asked from.
    with terminal(BASH) as shell:
        shell.type(f"{SLIPRING} --install-completion; exit\n".encode())
        assert shell.end()[0] == 0
    assert "slipring" in (tmp_path / ".bashrc").read_text()
    assert "_SLIPRING_COMPLETE" in (tmp_path / ".bash_completions" / "slipring.sh").read_text()
