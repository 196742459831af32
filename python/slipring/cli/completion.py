"""`slipring completion`: prints the script by which a shell completes commands and options."""

import os
from enum import StrEnum
from typing import Annotated

import typer


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
    from slipring.cli.app import app

    # The same variable asks for completions, when the script runs.
    os.environ["_SLIPRING_COMPLETE"] = f"source_{shell}"
    app([], prog_name="slipring")
