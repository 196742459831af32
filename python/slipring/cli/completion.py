"""`slipring completion`: prints the script by which a shell completes commands and options."""

import io
import os
from contextlib import redirect_stdout, suppress
from enum import StrEnum
from typing import Annotated

import typer

REGISTERED = "compdef _slipring_completion slipring"
LOADED_OR_REGISTERED = f"""\
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _slipring_completion "$@"
else
  {REGISTERED}
fi"""
"""zsh reads a file of $fpath at the first Tab, and expects it to complete at once."""


class _Shell(StrEnum):
    """A shell that can complete our commands."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[_Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script by which a shell completes commands and options with the Tab key.

    `slipring --install-completion` does it for the shell that you are in, for good.

    For example:

        slipring completion bash > ~/.local/share/bash-completion/completions/slipring

        slipring completion zsh > ~/.zfunc/_slipring

        slipring completion fish > ~/.config/fish/completions/slipring.fish
    """
    script = _script(shell)
    if shell is _Shell.ZSH:
        script = script.replace(REGISTERED, LOADED_OR_REGISTERED)
    print(script)


def _script(shell: _Shell) -> str:
    """The script of a shell; zsh looks for `#compdef` in its first line."""
    from slipring.cli.app import app

    told = io.StringIO()
    # The same variable asks for completions, when the script runs.
    os.environ["_SLIPRING_COMPLETE"] = f"source_{shell}"
    with redirect_stdout(told), suppress(SystemExit):
        app([], prog_name="slipring")
    return told.getvalue().strip()
