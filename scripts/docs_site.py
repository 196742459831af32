"""Builds the pages of this repository as a site that loads nothing from elsewhere.

python -m scripts.docs_site FOLDER. It works from a disk. A broken link is an error.
The navigation is that of docs/README.md: its headings, and the rows of its tables.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import NamedTuple

from scripts.command_page import COMMAND_PAGE, command_page

ROOT = Path(__file__).parents[1]
INDEX = PurePosixPath("docs/README.md")
HOME = "index.md"
"""What README.md is called on the site, so that a server finds it."""
BESIDE = ("ARCHITECTURE.md", "benches/RESULTS.md", "CONTRIBUTING.md", "CHANGELOG.md")
DECISIONS = PurePosixPath("docs/decisions/README.md")
HEADING = re.compile(r"^###? (.+)$")
ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)#]+\.md)\)")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")


class Chapter(NamedTuple):
    """A part of the navigation: its title, and its pages with their titles."""

    title: str
    pages: list[tuple[str, PurePosixPath]]


def chapters(root: Path = ROOT) -> list[Chapter]:
    """The navigation, as docs/README.md has it."""
    found: list[Chapter] = []
    for line in (root / INDEX).read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            found.append(Chapter(heading[1], []))
        elif (row := ROW.match(line)) and found:
            page = PurePosixPath(normpath(INDEX.parent / row[2]))
            found[-1].pages.append((row[1], page))
    return [chapter for chapter in found if chapter.pages]


def build(to: Path, root: Path = ROOT) -> str:
    """Build the site into a folder; returns what Sphinx said."""
    with tempfile.TemporaryDirectory(prefix="docs") as folder:
        pages = Path(folder) / "pages"
        stage(pages, root)
        command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
        settings = ["--conf-dir", ROOT / "scripts" / "site", "--doctree-dir", Path(folder) / "read"]
        shutil.rmtree(to, ignore_errors=True)
        done = subprocess.run(
            [*command, "--jobs", "2", *map(str, settings), str(pages), str(to)],
            capture_output=True,
            text=True,
            check=False,
        )
        said = (done.stdout + done.stderr).replace(f"{pages}/", "")
        if done.returncode:
            raise SystemExit(f"{said}docs: the site is not built, see above")
    return said


def stage(to: Path, root: Path) -> None:
    """Copy the pages, what they link to, and the navigation into a folder, as they lie here."""
    waiting = [PurePosixPath("README.md"), INDEX, *map(PurePosixPath, BESIDE)]
    waiting += [PurePosixPath(page.relative_to(root)) for page in root.glob("docs/**/*.md")]
    done: set[PurePosixPath] = set()
    while waiting:
        path = waiting.pop()
        if path in done or not (root / path).is_file():
            continue
        done.add(path)
        if path.suffix == ".md":
            text = (root / path).read_text(encoding="utf-8")
            waiting += [PurePosixPath(normpath(path.parent / link)) for link in links(text)]
            _write(to / staged_name(path), staged_text(path, text))
        else:
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, to / path)
    _write(to / COMMAND_PAGE, command_page())
    further = sorted(path for path in done if path.suffix == ".md" and path.parts[0] != "docs")
    _navigate(to, further, chapters(root))


def links(text: str) -> Iterator[str]:
    """What a page links to in this repository."""
    for match in LINK.finditer(FENCE.sub("", text)):
        yield match[2]


def staged_name(path: PurePosixPath) -> str:
    return HOME if str(path) == "README.md" else str(path)


def staged_text(path: PurePosixPath, text: str) -> str:
    """The page with links to README.md by the name it has on the site."""
    home = relpath("README.md", path.parent)
    renamed = relpath(HOME, path.parent)
    return LINK.sub(
        lambda match: (
            f"{match[1]}{renamed if normpath(match[2]) == home else match[2]}"
            f"{match[3] or ''}{match[4]}"
        ),
        text,
    )


def _navigate(to: Path, further: list[PurePosixPath], parts: list[Chapter]) -> None:
    """Write the navigation behind the pages that open a part of it."""
    looked_up = next(part for part in parts if part.title == "Look up")
    looked_up.pages.append(("Commands in full", PurePosixPath(COMMAND_PAGE)))
    trees = [_tree("", [("All pages, by task", INDEX)])]
    trees += [_tree(part.title, part.pages) for part in parts]
    trees.append(_tree("Beside", [("", PurePosixPath(page)) for page in BESIDE]))
    _append(to / HOME, "\n".join(trees))
    decisions = sorted((to / DECISIONS).parent.glob("0*.md"))
    below = [("", PurePosixPath(page.relative_to(to / "docs" / "decisions"))) for page in decisions]
    _append(to / DECISIONS, _tree("", below))
    known = {"README.md", *BESIDE}
    _append(
        to / "CONTRIBUTING.md",
        _tree("", [("", page) for page in further if str(page) not in known]),
    )


def _tree(title: str, pages: list[tuple[str, PurePosixPath]]) -> str:
    rows = [
        f"{name} <{page.with_suffix('')}>" if name else str(page.with_suffix(""))
        for name, page in pages
    ]
    caption = [f":caption: {title}"] if title else []
    return "\n".join(["```{toctree}", ":hidden:", *caption, "", *rows, "```", ""])


def _append(file: Path, text: str) -> None:
    file.write_text(f"{file.read_text(encoding='utf-8')}\n{text}", encoding="utf-8")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    (folder,) = map(Path, sys.argv[1:])
    sys.stdout.write(build(folder))
    print(f"docs: {folder / 'index.html'}")
