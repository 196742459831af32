"""How several processes share out the tests: what belongs together stays together, the long first.

The tests of a file stay in one process, because they share its brokers; some rooms stay together
whole, because they share more. `pytest` without `-n` runs all in one process, file by file.
"""

import os

import pytest

PROCESSES_MAX = 8
TOGETHER = {
    "tests/archive/test_spark.py": "spark",
    "tests/demo/test_run.py": "spark",
    "tests/outside/": "outside",
    "tests/pipeline/": "spark",
    "tests/remote/test_spark.py": "spark",
    "tests/spark/": "spark",
    "tests/walk/": "spark",
    "tests/wheel/": "wheel",
}
"""One batch of processes for both outside suites, one make for all that is installed, and one thing
at a time for all that needs Spark: a Java for each process is heavy, and Spark gives its Python no
more than 10 s to start.
"""
ALONE = ("tests/faults/test_kills.py",)
"""Files whose tests share nothing and last: each goes to whoever is free."""
LONG = (
    "spark",
    "tests/faults/",
    "outside",
    "tests/benches/",
    "tests/demo/",
    "wheel",
    "tests/hostile/test_bounds.py",
    "tests/hostile/test_patience.py",
    "tests/fairness/",
    "tests/client/test_broker_restarts.py",
    "tests/cli/",
    "tests/recording/",
    "tests/archive/",
    "tests/docs/",
)
"""What is begun first, so that nobody waits for it at the end: tests/README.md has the times."""


def unit(nodeid: str) -> str:
    """The name that a test shares with all tests of its process."""
    file = nodeid.partition("::")[0]
    if file in ALONE:
        return nodeid
    return next((name for start, name in TOGETHER.items() if file.startswith(start)), file)


def place(nodeid: str) -> int:
    """How early a test's unit begins."""
    name = unit(nodeid)
    return next((at for at, start in enumerate(LONG) if name.startswith(start)), len(LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two for each core: a test waits for half of its time, mostly for a broker to start or end."""
    return min(2 * (os.cpu_count() or 1), PROCESSES_MAX)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of several, the order in which units are given out."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Shares out units, in the order of the items."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = unit
    return scheduler
