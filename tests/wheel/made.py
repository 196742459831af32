"""What make builds for people to install."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def made(what: str, pattern: str) -> Path:
    """Made anew where something has changed."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "needs=", what],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (ROOT / ".build" / what).glob(pattern)
    return found
