"""Which test runs which block of the pages: a table that test_blocks.py holds against both."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
TYPED = re.compile(r"^(?:\$ )?(?:slipring|mosquitto_\w+|curl|sudo|podman|make|pip) ")
"""How a block begins whose kind is not named, and that a person types all the same."""

RUN = {
    "README.md python": "client/test_guide.py",
    "docs/access.md sh": "control/test_access_page.py",
    "docs/api.md sh": "docs/test_api_page.py",
    "docs/authentication.md sh": "docs/test_pages_with_users.py",
    "docs/client.md python": "client/test_guide.py",
    "docs/client.md sh": "docs/test_page_lines.py",
    "docs/clocks.md sh": "docs/test_page_lines.py",
    "docs/commands.md sh": "docs/test_page_lines.py",
    "docs/delivery.md typed": "docs/test_page_lines.py",
    "docs/dictionaries.md python": "docs/test_page_examples.py",
    "docs/dictionaries.md sh": "docs/test_page_lines.py",
    "docs/aircraft.md python": "docs/test_page_examples.py",
    "docs/aircraft.md sh": "docs/test_page_lines.py",
    "docs/discovery.md sh": "docs/test_page_lines.py",
    "docs/from-mosquitto.md sh": "control/test_operating_page.py",
    "docs/hardening.md sh": "control/test_hardening.py",
    "docs/history.md sh": "docs/test_page_lines.py",
    "docs/lake.md python": "lake/test_guide.py",
    "docs/lake.md typed": "lake/test_guide.py",
    "docs/listeners.md sh": "cli/test_serve_listeners.py",
    "docs/notices.md sh": "docs/test_page_lines.py",
    "docs/observing.md sh": "docs/test_page_lines.py",
    "docs/operate.md sh": "control/test_operating_page.py",
    "docs/parameters.md python": "client/test_guide.py",
    "docs/parameters.md sh": "docs/test_page_lines.py",
    "docs/pipeline.md python": "pipeline/test_guide.py",
    "docs/pipeline.md sh": "pipeline/test_cluster.py",
    "docs/pipeline.md typed": "pipeline/test_guide.py",
    "docs/priorities.md typed": "cli/test_page_commands.py",
    "docs/recordings.md sh": "docs/test_page_lines.py",
    "docs/requests.md python": "client/test_guide.py",
    "docs/requests.md sh": "cli/test_page_commands.py",
    "docs/requests.md typed": "cli/test_page_commands.py",
    "docs/selections.md python": "client/test_guide.py",
    "docs/selections.md typed": "docs/test_page_lines.py",
    "docs/spark.md python": "pipeline/test_guide.py",
    "docs/streams.md python": "docs/test_page_examples.py",
    "docs/streams.md sh": "docs/test_page_lines.py",
    "docs/table.md python": "docs/test_page_examples.py",
    "docs/table.md sh": "interoperability/test_table_page.py",
    "docs/tokens.md sh": "docs/test_pages_with_users.py",
    "docs/tutorial-data.md python": "walk/test_tutorials.py",
    "docs/tutorial-data.md sh": "walk/test_tutorials.py",
    "docs/tutorial-fleet.md python": "walk/test_tutorials.py",
    "docs/tutorial-fleet.md sh": "walk/test_tutorials.py",
    "docs/tutorial-flight.md sh": "walk/test_tutorial_flight.py",
}
"""Every block of a kind on a page, by the file of the test that runs it."""
RUN_ONE = {
    "README.md: slipring serve &": "cli/test_readme.py",
    "README.md: slipring sub --rate": "docs/test_page_lines.py",
    "docs/requests.md: while true; do": "requests/test_old_clients.py",
    "docs/table.md: import json": "interoperability/test_table_page.py",
}
"""A block that another test runs than the others of its kind, by how it begins."""
NOT_RUN = {
    "README.md: make demo": "they are what the tests are started by; walk/test_tutorial_flight.py "
    "flies the demo",
    "README.md: spark.read": "two expressions; pipeline/test_guide.py runs them as docs/spark.md",
    "docs/archive.md: ": "needs a bucket of your own; archive/ does the same with a server of its "
    "own",
    "docs/audit.md: ": "needs a broker with users; audit/ reads what they leave",
    "docs/client.md: slipring login": "needs a console with TLS: cli/test_login.py has one",
    "docs/conformance.md: ": "starts pytest in pytest",
    "docs/console.md: curl": "needs a console with TLS and users: console/ has them",
    "docs/derive.md: ": "parts of a program; pipeline/ has it in full",
    "docs/discovery.md: avahi-browse": "needs a daemon of the system",
    "docs/operate.md: sudo": "changes the system; wheel/ installs in a folder, and "
    "try-service.sh into a system of its own",
    "docs/operate.md: podman": "needs podman and the internet: try-container.sh",
    "docs/remote.md: ": "needs a host with TLS; remote/test_spark.py reads from one here",
    "docs/steps.md: ": "two expressions; pipeline/ calls both with samples",
}
"""Why no test runs these, by how they begin."""


class Block(NamedTuple):
    """Something that a person types or copies."""

    page: str
    kind: str
    first: str

    @property
    def name(self) -> str:
        return f"{self.page}: {self.first}"


def blocks() -> Iterator[Block]:
    """Every block of README and of docs/ that can be run."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for language, text in FENCED.findall(page.read_text(encoding="utf-8")):
            first = text.lstrip().partition("\n")[0]
            kind = language or ("typed" if TYPED.match(first) else "")
            if kind in ("sh", "python", "typed"):
                yield Block(str(page.relative_to(ROOT)), kind, first)


def runner(block: Block) -> str | None:
    """The test that runs it, or nothing."""
    for beginning, test in RUN_ONE.items():
        if block.name.startswith(beginning):
            return test
    if any(block.name.startswith(beginning) for beginning in NOT_RUN):
        return None
    return RUN.get(f"{block.page} {block.kind}")


def reason(block: Block) -> str | None:
    """Why no test runs it."""
    found = [why for beginning, why in NOT_RUN.items() if block.name.startswith(beginning)]
    return found[0] if found else None
