"""The pages about limits and the log say what the code does."""

import re
from pathlib import Path

from slipring.control.event_kinds import KINDS
from slipring.control.events import LINES_MAX
from slipring.control.limits import LimitsSection

DOCS = Path(__file__).parents[2] / "docs"
CODE = re.compile(r"0x[0-9a-f]{2}")


def rows(page: str) -> list[list[str]]:
    """The cells of the rows of a page's first table."""
    table = (DOCS / page).read_text().split("\n|---")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]


def test_the_page_of_the_limits_has_every_key_with_its_default() -> None:
    shown = [(key.strip("`"), default.replace(",", "")) for key, default, *_ in rows("limits.md")]
    fields = LimitsSection.model_fields
    assert shown == [(name, str(field.default)) for name, field in fields.items()]


def test_the_page_of_the_limits_has_the_reason_codes_of_the_configuration() -> None:
    for key, _, edge, _ in rows("limits.md"):
        description = LimitsSection.model_fields[key.strip("`")].description or ""
        assert set(CODE.findall(description)) <= set(CODE.findall(edge)), key


def test_the_page_about_the_log_has_every_event_with_its_level() -> None:
    shown = {name.strip("`"): (room, level) for name, room, level, _ in rows("observing.md")}
    assert shown == {name: (kind.room, kind.level) for name, kind in KINDS.items()}
    assert f"at most {LINES_MAX} get a line each" in (DOCS / "observing.md").read_text()
