"""What lets Spark start sooner is kept in the user's cache, and is never needed (D1)."""

import os
import subprocess
from pathlib import Path

import pytest

from slipring.pipeline.quick_start import JAVA_OPTIONS, start_sooner

SETTINGS = {JAVA_OPTIONS: "-XX:+UseSerialGC", "spark.app.name": "slipring"}
RUN_S = 200
MAGIC = b"\xa8\xba\x0b\xf0"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one; Spark's home is what it was after the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_HOME", "")
    monkeypatch.delenv("SPARK_HOME")
    return tmp_path / "slipring"


def archive_in(options: str) -> Path:
    (found,) = [word.partition("=")[2] for word in options.split() if word.endswith(".jsa")]
    return Path(found)


def test_the_second_run_writes_an_archive_and_the_next_ones_use_it(cache: Path) -> None:
    assert start_sooner(SETTINGS) == SETTINGS
    second = start_sooner(SETTINGS)[JAVA_OPTIONS]
    assert second.startswith("-XX:+UseSerialGC -XX:ArchiveClassesAtExit=")
    archive = archive_in(second)
    assert archive.parent == cache
    archive.write_bytes(bytes(100))
    assert start_sooner(SETTINGS)[JAVA_OPTIONS] == second, "it was killed while it wrote"
    archive.write_bytes(MAGIC)
    assert f"-XX:SharedArchiveFile={archive} -Xshare:auto" in start_sooner(SETTINGS)[JAVA_OPTIONS]


def test_other_options_of_java_have_an_archive_of_their_own() -> None:
    others = {**SETTINGS, JAVA_OPTIONS: "-XX:+UseG1GC"}
    for one in (SETTINGS, others):
        start_sooner(one)
    made = {archive_in(start_sooner(one)[JAVA_OPTIONS]) for one in (SETTINGS, others)}
    assert len(made) == 2


def test_java_takes_the_options_and_leaves_a_damaged_archive_alone() -> None:
    """Whatever is in the archive, Java starts, and says nothing about it."""
    start_sooner(SETTINGS)
    archive = archive_in(start_sooner(SETTINGS)[JAVA_OPTIONS])
    for content in (None, MAGIC + bytes(5_000)):
        if content is not None:
            archive.chmod(0o600)
            archive.write_bytes(content)
        words = start_sooner(SETTINGS)[JAVA_OPTIONS].split()
        java = Path(os.environ.get("JAVA_HOME", "/usr")) / "bin" / "java"
        done = subprocess.run(
            [java, *words, "-version"], capture_output=True, text=True, timeout=RUN_S, check=True
        )
        assert done.stdout == ""
        assert "archive" not in done.stderr
        assert archive.stat().st_size


def test_processes_of_spark_find_compiled_python(cache: Path) -> None:
    """The home that is made has no pyspark.zip, which has source only."""
    start_sooner(SETTINGS)
    home = Path(os.environ["SPARK_HOME"])
    assert home.parent == cache
    assert (home / "bin" / "spark-submit").exists()
    assert [*(home / "jars").glob("spark-core_*.jar")]
    assert not (home / "python").exists()


def test_a_home_that_the_user_gives_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    start_sooner(SETTINGS)
    assert os.environ["SPARK_HOME"] == "/opt/spark"


def test_without_a_cache_spark_starts_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert start_sooner(SETTINGS) == SETTINGS
    assert "SPARK_HOME" not in os.environ
