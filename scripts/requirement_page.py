"""Writes the last column of docs/requirements.md: which tests show each requirement.

A test shows a requirement if a docstring or comment of its file names the code in brackets, or
begins with it. Everything else on the page is written by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "requirements.md"
CODE = r"(?:[GTP]\d{1,2}|S\d|V[1-5]|D1)(?!\d)"
CODES = rf"{CODE}(?:(?:, | and ){CODE})*"
NAMED = re.compile(rf"\(({CODES})\)|(?:^\s*|\"\"\"|//[/!]? )({CODES})[:.](?=[ \"])", re.MULTILINE)
"""`(G1, G3)`, or `D1: ...` at the beginning of a docstring."""
ROW = re.compile(rf"^\| ({CODE}) \| ([^|]+) \| ([^|]+) \|.*$", re.MULTILINE)
TESTS = ("tests/**/test_*.py", "crates/*/tests/**/*.rs", "crates/*/src/**/*tests.rs")
NOT_ABOUT_IT = ("tests/docs/test_requirements.py",)
TESTS_SHOWN_MAX = 6


def shown_by(root: Path = ROOT) -> dict[str, list[str]]:
    """The test files of each code, in the order of the alphabet."""
    found: dict[str, list[str]] = {}
    for file in sorted({file for pattern in TESTS for file in root.glob(pattern)}):
        name = str(file.relative_to(root))
        text = file.read_text(encoding="utf-8")
        codes = {code for match in NAMED.finditer(text) for code in re.findall(CODE, match[0])}
        for code in codes if name not in NOT_ABOUT_IT else ():
            found.setdefault(code, []).append(name)
    return found


def rows(page: str) -> Iterator[tuple[str, str, str]]:
    """Each code of the page, what it means, and where it is described."""
    for row in ROW.finditer(page):
        yield row[1], row[2], row[3].strip()


def with_tests(page: str, tests: dict[str, list[str]]) -> str:
    """The page with what the tests are now."""
    return ROW.sub(
        lambda row: f"| {row[1]} | {row[2]} | {row[3]} | {_shown(tests.get(row[1], []))} |", page
    )


def _shown(tests: list[str]) -> str:
    names = [f"`{file}`" for file in tests[:TESTS_SHOWN_MAX]]
    if len(tests) > TESTS_SHOWN_MAX:
        names.append(f"{len(tests) - TESTS_SHOWN_MAX} more")
    return ", ".join(names)


if __name__ == "__main__":
    PAGE.write_text(with_tests(PAGE.read_text(encoding="utf-8"), shown_by()), encoding="utf-8")
