"""Prints the part of requirements.lock that the package needs without its extras.

    python -m scripts.needed_lock > needed.lock

For who installs the wheel with the versions that were tested: the package, the image, the tests.
"""

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def needed_lock() -> str:
    """The entries of the lock file, with their hashes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked, names = list[str](project["dependencies"]), set[str]()
    while asked:
        one = Requirement(asked.pop())
        name = canonicalize_name(one.name)
        if name not in names and (one.marker is None or one.marker.evaluate({"extra": ""})):
            names.add(name)
            asked += metadata.requires(name) or []
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    return "".join(entry for entry in entries if entry.partition("==")[0] in names)


if __name__ == "__main__":
    print(needed_lock(), end="")
