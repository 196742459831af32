"""A command starts quickly: it imports only what it uses."""

import subprocess
import sys


def test_a_command_does_not_wait_for_what_it_does_not_use() -> None:
    code = "import sys, slipring.cli.app; print({'numpy', 'pyarrow', 'rich'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout == "set()\n"
