"""The Markdown pages: links and paths lead somewhere, pages are listed, the version is right."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath

from tests.tidy.tree import Source, Tree

INDEX = "README.md"
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
ELSEWHERE = re.compile(r"^[a-z][a-z+.-]*:")
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)
RELEASE = re.compile(r"^## +\[?v?(\d+\.\d+\.\d+[\w.+-]*)", re.MULTILINE)
SECTION = re.compile(r"^## .*$", re.MULTILINE)
NAMED_PATH = re.compile(r"`((?:benches|crates|docs|python|scripts|tests|web)/[a-z\d_./-]+)`")
BUILT = PurePosixPath("python/slipring/console/static")
DECISIONS = PurePosixPath("docs/decisions")
"""A decision keeps the names that things had when it was made."""


def broken_links(tree: Tree) -> list[str]:
    pages = {page.path: page for page in tree.sources(".md")}
    return [
        f"{page.path}: the link to {link} leads nowhere"
        for page in pages.values()
        for link in _links(page)
        if not _resolves(tree, pages, page, link)
    ]


def lost_paths(tree: Tree) -> list[str]:
    """Files and folders that a page names and that are not there."""
    return [
        f"{page.path}: there is no {path}"
        for page in tree.sources(".md")
        if not page.path.is_relative_to(DECISIONS)
        for path in NAMED_PATH.findall(FENCE.sub("", page.text))
        if not _is_there(tree, PurePosixPath(path))
    ]


def unlisted_pages(tree: Tree) -> list[str]:
    """Pages under docs/ that the README of their folder does not list once."""
    pages = [page for page in tree.sources(".md") if page.path.parts[0] == "docs"]
    listed = Counter(
        _target(page, link) for page in pages if page.path.name == INDEX for link in _links(page)
    )
    return [
        f"{page.path}: {INDEX} beside it lists it {listed[page.path]} times, not once"
        for page in pages
        if page.path.name != INDEX and listed[page.path] != 1
    ]


def version_mismatch(tree: Tree) -> list[str]:
    """The newest heading of the changelog names the version that Cargo.toml builds."""
    cargo = tomllib.loads((tree.root / "Cargo.toml").read_text(encoding="utf-8"))
    version = cargo["workspace"]["package"]["version"]
    changelog = next((page for page in tree.sources("CHANGELOG.md")), None)
    newest = SECTION.search(changelog.text) if changelog else None
    release = RELEASE.match(newest.group()) if newest else None
    if release and release.group(1) == version:
        return []
    heading = newest.group() if newest else "no heading"
    return [f"CHANGELOG.md opens with {heading!r}, and Cargo.toml has version {version}"]


def _links(page: Source) -> Iterator[str]:
    prose = INLINE_CODE.sub("", FENCE.sub("", page.text))
    for match in LINK.finditer(prose):
        if not ELSEWHERE.match(match.group(1)):
            yield match.group(1)


def _target(page: Source, link: str) -> PurePosixPath:
    path = link.partition("#")[0]
    if not path:
        return page.path
    return PurePosixPath(normpath(page.path.parent / path))


def _resolves(tree: Tree, pages: dict[PurePosixPath, Source], page: Source, link: str) -> bool:
    target = _target(page, link)
    anchor = link.partition("#")[2]
    if not anchor or target not in pages:
        return _is_there(tree, target)
    return anchor in {_anchor(heading) for heading in HEADING.findall(pages[target].text)}


def _is_there(tree: Tree, target: PurePosixPath) -> bool:
    return target == BUILT or any(path.is_relative_to(target) for path in tree.paths)


def _anchor(heading: str) -> str:
    """The anchor that a heading gets where the pages are shown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
