"""Writes docs/conformance.md from the tables of the conformance tests."""

from pathlib import Path

from tests.conformance.page import page

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
