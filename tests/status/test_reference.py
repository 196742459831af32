"""What `make reference` writes is not stale."""

from scripts.reference import written


def test_the_pages_types_and_the_docs_are_as_the_code_describes_them() -> None:
    stale = [file.name for file, text in written().items() if file.read_text() != text]
    assert stale == [], "run `make reference`"
