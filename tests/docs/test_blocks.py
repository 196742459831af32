"""Every block of the pages that can be run is run by a test, or says why not."""

from pathlib import Path

from tests.docs.block_table import NOT_RUN, RUN, RUN_ONE, blocks, reason, runner

TESTS = Path(__file__).parents[1]
REASONS_MAX = 20


def test_every_block_has_a_test_or_a_reason() -> None:
    found = list(blocks())
    assert len(found) > 120
    unknown = [block.name for block in found if runner(block) is None and reason(block) is None]
    assert unknown == [], "give each a test in tests/docs/block_table.py, or a reason"


def test_the_reasons_are_few_and_the_blocks_that_are_run_many() -> None:
    found = list(blocks())
    assert len(NOT_RUN) <= REASONS_MAX
    assert sum(runner(block) is not None for block in found) > 0.8 * len(found)


def test_the_table_has_nothing_that_is_gone() -> None:
    found = list(blocks())
    kinds = {f"{block.page} {block.kind}" for block in found}
    assert set(RUN) - kinds == set()
    for beginning in (*RUN_ONE, *NOT_RUN):
        assert any(block.name.startswith(beginning) for block in found), beginning


def test_each_test_of_the_table_reads_the_page_that_it_runs() -> None:
    """A line that names the page is what makes a test follow it."""
    for block in blocks():
        if (test := runner(block)) is not None:
            text = (TESTS / test).read_text(encoding="utf-8")
            assert Path(block.page).name in text, f"tests/{test} does not read {block.page}"


def test_each_reason_names_a_test_that_there_is() -> None:
    for why in NOT_RUN.values():
        for word in why.replace(",", " ").replace(":", " ").split():
            if "/" in word and not word.startswith("docs/"):
                assert (TESTS / word).exists(), word
