"""Says the verdicts of the fault runs where a person sees them: at the end, whoever ran them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from tests.faults.verdict import Report

TOLD = "verdict"
Tell: TypeAlias = Callable[["Report"], "Report"]


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """Says a verdict at the end of the run. It goes with the test's report to another process."""

    def told(report: "Report") -> "Report":
        request.node.user_properties.append((TOLD, f"{request.node.name}: {report}"))
        return report

    return told


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Every run reports what was acknowledged and what became of it."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [
        words
        for report in reports
        if report.when == "call"
        for name, words in report.user_properties
        if name == TOLD
    ]
    if lines:
        terminalreporter.section("faults")
    for line in lines:
        terminalreporter.line(line)
