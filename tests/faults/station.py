"""Slipring on a failing disk: started, ended, started again in the same folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.faults.disk import Disk
from tests.faults.platter import Platter
from tests.running_broker import RunningBroker

SEED = int(os.environ.get("SEED", "1"))
CONFIG = """\
[journal]
segment_bytes = 65536
"""
"""Small segments, so that a short run has many."""


class Died(Exception):
    """The disk killed the broker before it was ready."""


@dataclass(repr=False)
class Station:
    """One broker's folder, its disk, and what of it is safe."""

    disk: Disk
    config: Path
    console: bool = False

    @classmethod
    def on(cls, disk: Disk, config: str = CONFIG, *, console: bool = False) -> "Station":
        """A broker to be, with this configuration."""
        file = disk.panel_file.with_name("broker.toml")
        file.write_text(config, encoding="utf-8")
        return cls(disk, file, console)

    @property
    def journal(self) -> Path:
        return self.disk.folder / "journal"

    def start(self) -> RunningBroker:
        """A life of the broker; all that is in the folder now is safe."""
        self.disk.trace.write_bytes(b"")
        self.platter = Platter(self.disk.folder)
        arguments = ["--config", str(self.config)]
        if not self.console:
            arguments += ["--console", "off"]
        environment = self.disk.environment
        try:
            return RunningBroker.start(self.disk.folder, *arguments, environment=environment)
        except AssertionError:
            if self.disk.has_stopped:
                raise Died from None
            raise

    def cut_power(self, choice: Random | None = None) -> int:
        """After the broker's end: take away what was not safe; how many bytes that are."""
        self.platter.follow(self.disk.trace.read_bytes())
        return self.platter.cut(choice)
