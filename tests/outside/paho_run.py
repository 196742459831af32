"""The MQTT 5 tests of Eclipse Paho's Python client, run against Slipring.

    python -m tests.outside.paho_run FOLDER

They come from Paho's interoperability tests and expect its test broker as a module `mqtt.brokers`;
one of that name here starts Slipring. Writes one line of JSON: each test and how it failed, if it
did.
"""

import contextlib
import io
import json
import os
import socket
import sys
import unittest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from tests.outside.brokers import Process, start_slipring


class Server:
    """What the tests know of a running broker: its socket's address, and how to end it."""

    def __init__(self, port: int) -> None:
        self.process: Process = start_slipring({}, port)
        self.address = ("127.0.0.1", port)
        self.socket = SimpleNamespace(getsockname=lambda: self.address)

    def shutdown(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)


def modules() -> dict[str, ModuleType]:
    """The modules `mqtt` and `mqtt.brokers`, as far as the tests use them."""
    package, brokers = ModuleType("mqtt"), ModuleType("mqtt.brokers")
    listeners = SimpleNamespace(TCPListeners=SimpleNamespace(server=None))

    def run(config: list[str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        listeners.TCPListeners.server = Server(port)

    vars(brokers).update(run=run, listeners=listeners)
    vars(package).update(brokers=brokers)
    return {"mqtt": package, "mqtt.brokers": brokers}


def outcomes(module: Any) -> dict[str, str]:
    """Each test's name with what went wrong, or nothing."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    names = [test.id().rpartition(".")[2] for test in _tests(suite)]
    result = unittest.TestResult()
    with contextlib.redirect_stdout(io.StringIO()):
        suite.run(result)
    wrong = {test.id().rpartition(".")[2]: text for test, text in result.failures + result.errors}
    unknown = {name: text for name, text in wrong.items() if name not in names}
    return {name: wrong.get(name, "") for name in names} | unknown


def _tests(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _tests(one)
        else:
            yield one


def main(folder: Path) -> None:
    os.chdir(folder)
    sys.path.insert(0, str(folder / "tests"))
    sys.modules.update(modules())
    sys.stdout.write(json.dumps(outcomes(import_module("test_mqttv5"))))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
