"""README's five minutes can be pasted at once, as a whole, into a shell."""

import os
import re
from pathlib import Path

import pytest

from slipring import sync
from tests.cli.commands import SLIPRING
from tests.cli.terminal import terminal
from tests.running_broker import kept_address

README = (Path(__file__).parents[2] / "README.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
# The ports of the block may be in use here, and tests/walk runs the pipeline.
INSTEAD = """\
slipring() {
  case "$1" in
    serve) exec env slipring serve --mqtt "$ADDRESS" --console 127.0.0.1:0 ;;
    pipeline) env slipring "$@" --help > /dev/null && echo "PIPELINE ENDS" ;;
    *) env slipring "$@" ;;
  esac
}
PS1="READY "
"""


def test_the_block_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = next(one for one in BLOCKS if one.startswith("slipring serve &"))
    assert "#" not in block.replace("'gripen/#'", ""), "zsh takes comments for arguments"
    (tmp_path / "profile").write_text(INSTEAD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(SLIPRING).parent}{os.pathsep}{os.environ['PATH']}")
    with kept_address() as address:
        monkeypatch.setenv("ADDRESS", address)
        monkeypatch.setenv("SLIPRING_URL", f"mqtt://{address}")
        with terminal(("bash", "--noprofile", "--rcfile", "profile", "-i"), columns=160) as shell:
            shell.wait_for(rb"READY ")
            shell.type(block.encode())
            shown = shell.wait_for(rb"PIPELINE ENDS")
            assert b"slipring ready mqtt=" in shown
            with sync.connect(f"mqtt://{address}") as bus, bus.subscribe("again/#") as messages:
                assert next(messages).topic == "again/gripen/39-7/engine/rpm"
            if b"rpm 12034.5\r\n" not in re.sub(rb"pub --retain [^\n]*\n", b"", shown):
                shell.wait_for(rb"gripen/39-7/engine/rpm 12034.5\r\n")
            shell.type(b"kill %1 %2; wait; exit\n")
            assert shell.end()[0] in (0, 143)
