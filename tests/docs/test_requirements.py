"""The page of requirement codes: it has each code that a test names, and the tests there are."""

from scripts.requirement_page import NAMED, PAGE, rows, shown_by, with_tests

TEXT = PAGE.read_text(encoding="utf-8")
TESTS = shown_by()


def test_the_page_lists_the_tests_that_there_are() -> None:
    assert with_tests(TEXT, TESTS) == TEXT, "run `make reference`"


def test_every_code_is_explained_once() -> None:
    codes = [code for code, _, _ in rows(TEXT)]
    assert len(codes) == len(set(codes)) > 50
    assert set(TESTS) - set(codes) == set()


def test_what_is_said_to_be_there_has_a_page_and_a_test() -> None:
    for code, _, where in rows(TEXT):
        assert where == "not yet" or code in TESTS, f"no test names {code}"


def test_a_code_is_named_in_brackets_or_in_front() -> None:
    for text in ('"""A thing (G1, G3)."""', '"""D1: a thing."""', "//! T2 and T3. A thing"):
        assert NAMED.search(text), text
    for text in ("connect(V5, 2)", "an S3-compatible store", "in G1 a thing", "MQTT (V31)"):
        assert not NAMED.search(text), text
