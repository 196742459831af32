"""The site: every page is there and found, links lead somewhere, nothing comes from elsewhere."""

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from scripts.docs_site import ROOT, build, chapters, staged_text
from tests.chromium import new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Request

pytestmark = pytest.mark.timeout(600)
"""Sphinx takes 12 s of processor time."""

LOADING = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed|video|audio|form|use)\b[^>]*?"
    r"\s(?:src|href|data|action|srcset)=[\"']([^\"']*)"
)
IN_STYLE = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")
IN_SCRIPT = re.compile(
    r"(?:import\s*\(|from\s|fetch\(|importScripts\(|\.src\s*=)\s*[\"']([^\"']+)|new\s+Worker\([\"']([^\"']+)"
)
FOREIGN = re.compile(r"(?:[a-z][a-z+.-]*:)?//", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; broken links would have failed here."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    assert build(folder) == ""
    return folder


def loaded(text: str, suffix: str) -> Iterator[str]:
    """What a browser would load for a file, apart from what a person clicks."""
    if suffix == ".html":
        yield from LOADING.findall(text)
    if suffix in (".html", ".css"):
        yield from ("".join(found) for found in IN_STYLE.findall(text))
    if suffix in (".html", ".js"):
        yield from ("".join(found) for found in IN_SCRIPT.findall(text))


def test_every_page_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text()
    sidebar = home.partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    pages = list((ROOT / "docs").rglob("*.md"))
    assert len(pages) > 90
    absent = [
        page.name
        for page in pages
        if f'href="{page.relative_to(ROOT).with_suffix(".html")}"' not in sidebar
    ]
    assert absent == []


def test_the_navigation_is_by_task() -> None:
    titles = [chapter.title for chapter in chapters()]
    assert titles[0] == "Learn"
    assert titles[-2:] == ["Look up", "Formats"]
    assert len(titles) > 5


def test_the_search_index_has_the_words_of_the_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text()
    words = json.loads(index.partition("Search.setIndex(")[2].rpartition(")")[0])
    assert {"hysteresi", "mosquitto"} <= set(words["terms"]), "words are stemmed"
    assert "docs/steps" in words["docnames"]


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.suffix in (".html", ".css", ".js")]
    assert len(files) > 100
    foreign = [
        (file.name, address)
        for file in files
        for address in loaded(file.read_text(), file.suffix)
        if FOREIGN.match(address)
    ]
    assert foreign == []


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".html", '<script async src="https://a.example/x.js">'),
        (".html", '<link rel="stylesheet" href="//fonts.example/css">'),
        (".html", "<style>@import 'https://a.example/x.css'</style>"),
        (".css", "@font-face { src: url(https://a.example/x.woff2) }"),
        (".js", 'const x = await fetch("https://a.example/x.json")'),
    ],
)
def test_what_comes_from_elsewhere_is_found(suffix: str, text: str) -> None:
    assert [one for one in loaded(text, suffix) if FOREIGN.match(one)] != []


def test_the_command_reference_has_every_option(site: Path) -> None:
    page = (site / "docs" / "command-reference.html").read_text()
    for word in ("slipring serve", "slipring access users add", "--deadband", "SIGTERM"):
        assert word in page


def test_a_reader_searches_on_the_disk(site: Path, browser: "Browser") -> None:
    """Without a server, and without a network."""
    asked: list[str] = []

    def note(request: "Request") -> None:
        asked.append(request.url)

    page = new_page(browser)
    page.on("request", note)
    page.goto((site / "index.html").as_uri())
    page.get_by_placeholder("Search").first.fill("hysteresis")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="From a flight to a picture").last.click()
    page.get_by_role("heading", name="Compute and watch").wait_for()
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


def test_a_broken_link_ends_the_build(tmp_path: Path) -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        (tmp_path / page).write_text("# A page\n")
    for page in ("docs/decisions/README.md", "benches/RESULTS.md", "docs/a.md"):
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / page).write_text("# A page\n\n[elsewhere](gone.md)\n")
    rows = "# All\n\n## Look up\n\n| page |\n|---|\n| [A](a.md) |\n| [D](decisions/README.md) |\n"
    (tmp_path / "docs" / "README.md").write_text(rows)
    with pytest.raises(SystemExit, match=r"docs/a\.md:3: .*gone\.md"):
        build(tmp_path / "site", tmp_path)


def test_the_first_page_of_the_repository_is_that_of_the_site() -> None:
    text = "[x](../README.md#five-minutes) [y](README.md) [z](https://a.example/README.md)"
    assert staged_text(PurePosixPath("docs/a.md"), text) == text.replace(
        "../README.md", "../index.md"
    )
