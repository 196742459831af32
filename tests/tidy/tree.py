"""The repository as the tidy rules see it: what git tracks, or would track. Rules only read."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self


@dataclass(frozen=True)
class Source:
    """One file: where it is below the root, and what it says."""

    path: PurePosixPath
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def is_test(self) -> bool:
        name = self.path.name
        return (
            bool({"test", "tests"} & set(self.path.parts[:-1]))
            or name == "tests.rs"
            or name.endswith((".test.ts", "_tests.rs"))
        )

    def finding(self, line: int, message: str) -> str:
        return f"{self.path}:{line}: {message}"


@dataclass(frozen=True)
class Tree:
    """A folder and the files in it that count."""

    root: Path
    paths: tuple[PurePosixPath, ...]

    @classmethod
    def tracked(cls, root: Path) -> Self:
        """The files that git tracks or would track, without those just deleted."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
        names = sorted(set(listed.stdout.split("\0")) - {""})
        return cls(root, tuple(PurePosixPath(name) for name in names if (root / name).is_file()))

    @classmethod
    def folder(cls, root: Path) -> Self:
        """All files below a folder: for the planted violations of the tests."""
        files = sorted(path for path in root.rglob("*") if path.is_file())
        return cls(root, tuple(PurePosixPath(path.relative_to(root)) for path in files))

    def sources(self, *suffixes: str) -> Iterator[Source]:
        for path in self.paths:
            if path.suffix in suffixes or path.name in suffixes:
                yield Source(path, (self.root / path).read_text(encoding="utf-8"))
