"""How a rule's findings reach a person: one line each, without a stack."""

import pytest


def assert_none(findings: list[str]) -> None:
    if findings:
        pytest.fail("\n".join(findings), pytrace=False)
