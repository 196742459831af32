"""What lets Spark start sooner on this machine, kept in a folder for caches of the user.

- An archive of Java's loaded classes, which the second run writes when it ends: later ones map it
  into memory instead of reading, checking and linking twenty thousand classes. Not the first: to
  note what is loaded makes a start slower, which is for nothing where there is no second one.
- A home of Spark without `pyspark.zip`. That has no compiled Python, so that each of the many
  processes that Spark starts would compile PySpark anew; without it they take the installed one.

Nothing here makes a run fail: without the folder Spark starts as ever. Must never import pyspark.
"""

import hashlib
import importlib.util
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
KEPT_S = 30 * 24 * 3600
"""An archive that no run has used for so long is removed: it takes 160 MB."""
UNFINISHED = bytes(4)
"""How an archive begins before Java has written it to its end."""


def start_sooner(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session on this machine, with what lets it start sooner."""
    found = dict(settings)
    with suppress(OSError):
        folder = cache_folder()
        home = spark_home(folder)
        options = found.get(JAVA_OPTIONS, "")
        archive = folder / f"spark-{_key(str(home), options)}.jsa"
        found[JAVA_OPTIONS] = f"{options} {archive_option(archive)}".strip()
        _remove_unused(folder)
    return found


def cache_folder() -> Path:
    """Where this user's caches are; only the user may write there."""
    parent = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(parent).expanduser() / "slipring"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def archive_option(archive: Path) -> str:
    """Java's options that use an archive, or write it at the end of the second run."""
    if not archive.exists():
        archive.touch(mode=0o600)
        return ""
    with archive.open("rb") as content:
        begin = content.read(len(UNFINISHED))
    if begin not in (b"", UNFINISHED):
        os.utime(archive)
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:cds=off"
    return f"-XX:ArchiveClassesAtExit={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"


def spark_home(folder: Path) -> Path | None:
    """A folder of links to the installed Spark; it is the home of Spark unless there is one."""
    if "SPARK_HOME" in os.environ:
        return Path(os.environ["SPARK_HOME"])
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    installed = Path(spec.origin).parent
    home = folder / f"spark-home-{_key(str(installed), '')}"
    if not (home / "jars").is_dir():
        _link(installed, home)
    os.environ["SPARK_HOME"] = str(home)
    return home


def _link(installed: Path, home: Path) -> None:
    """Another process may make the same folder at the same time."""
    home.mkdir(exist_ok=True)
    for name in ("bin", "jars"):
        link = home / name
        with suppress(FileExistsError):
            link.unlink(missing_ok=True)
            link.symlink_to(installed / name)


def _key(home: str, options: str) -> str:
    """Changes with everything that Java compares before it uses an archive."""
    given = os.environ.get("JAVA_HOME")
    java = Path(given) / "bin" / "java" if given else Path(shutil.which("java") or "java")
    with suppress(OSError):
        java = java.resolve(strict=True)
    changed_ns = java.stat().st_mtime_ns if java.exists() else 0
    known = f"{version('pyspark')} {home} {java} {changed_ns} {options}"
    return hashlib.sha256(known.encode()).hexdigest()[:16]


def _remove_unused(folder: Path) -> None:
    for archive in folder.glob("spark-*.jsa"):
        with suppress(OSError):
            if archive.stat().st_mtime < time.time() - KEPT_S:
                archive.unlink()
