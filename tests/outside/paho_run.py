"""One of the MQTT 5 tests of Eclipse Paho's Python client, run against Slipring.

    python -m tests.outside.paho_run FOLDER TEST

They come from Paho's interoperability tests and expect its test broker as a module `mqtt.brokers`;
one of that name here starts Slipring.
"""

import ast
import os
import sys
import unittest
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

from tests.outside.brokers import Process, start_slipring
from tests.outside.unhurried import (
    IN_SECONDS,
    PATIENCE_S,
    be_patient,
    count_longer,
    wait_longer,
)

MODULE = "test_mqttv5"


class Server:
    """What the tests know of a running broker: its socket's address, and how to end it."""

    def __init__(self) -> None:
        self.process: Process
        self.process, port = start_slipring({})
        self.address = ("127.0.0.1", port)
        self.socket = SimpleNamespace(getsockname=lambda: self.address)

    def shutdown(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE_S)


def modules() -> dict[str, ModuleType]:
    """The modules `mqtt` and `mqtt.brokers`, as far as the tests use them."""
    package, brokers = ModuleType("mqtt"), ModuleType("mqtt.brokers")
    # Started already: the tests wait two seconds for it and no longer.
    listeners = SimpleNamespace(TCPListeners=SimpleNamespace(server=Server()))
    vars(brokers).update(run=lambda config: None, listeners=listeners)
    vars(package).update(brokers=brokers)
    return {"mqtt": package, "mqtt.brokers": brokers}


def names(folder: Path) -> list[str]:
    """The tests that are there."""
    tree = ast.parse((folder / "tests" / f"{MODULE}.py").read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [function.name for function in functions if function.name.startswith("test_")]


def main(folder: Path, test: str) -> None:
    os.chdir(folder)
    sys.path.insert(0, str(folder / "tests"))
    sys.modules.update(modules())
    tests = import_module(MODULE)
    be_patient(tests)
    if test in IN_SECONDS:
        wait_longer()
        count_longer(tests)
    unittest.main(module=tests, argv=["paho", f"Test.{test}"])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
