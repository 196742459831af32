"""Puts a broker into systemd, and takes it out again. Never touches data, nor a file of others."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from slipring.cli.service_unit import CONFIG, FIRST_CONFIG, MARK, SYSTEM_USER, USER, ServiceUnit
from slipring.errors import InstallError

UNIT = PurePosixPath("/etc/systemd/system/slipring.service")
OF_PACKAGE = (
    PurePosixPath("/lib/systemd/system/slipring.service"),
    PurePosixPath("/usr/lib/systemd/system/slipring.service"),
)
SYSTEM_USERS = PurePosixPath("/etc/sysusers.d/slipring.conf")
RUNS_SYSTEMD = PurePosixPath("/run/systemd/system")
SHOWN = "`slipring service show` prints the unit for you to adapt"


@dataclass(frozen=True)
class ServiceInstallation:
    """The service below a root folder: this machine, or an image that is being made."""

    root: Path = Path("/")

    @property
    def is_live(self) -> bool:
        """Whether it is this machine, with a systemd to talk to."""
        return self.root == Path("/")

    def at(self, path: PurePosixPath) -> Path:
        """Where a path of that machine is on this one."""
        return self.root / path.relative_to("/")

    def install(self, unit: ServiceUnit) -> list[str]:
        """Write the files, make the user; what was done, a line each."""
        self._refuse_wrong_machine()
        self._refuse_hidden(unit)
        self._refuse_others()
        done = [
            self._write(SYSTEM_USERS, SYSTEM_USER),
            self._write(UNIT, unit.text),
            self._write_config(unit.config),
        ]
        if self.is_live:
            _run("systemd-sysusers", str(SYSTEM_USERS))
            _give_to_group(Path(unit.config))
            _run("systemctl", "daemon-reload")
        return done

    def uninstall(self) -> list[str]:
        """Stop the service and remove its files, but neither config nor data."""
        self._refuse_wrong_machine()
        unit = self.at(UNIT)
        if not unit.exists():
            raise InstallError(f"there is no {unit}: nothing is removed")
        self._refuse_others()
        if self.is_live:
            _run("systemctl", "disable", "--now", unit.name)
        for path in (unit, self.at(SYSTEM_USERS)):
            path.unlink(missing_ok=True)
        if self.is_live:
            _run("systemctl", "daemon-reload")
        return [f"removed {unit}"]

    def _refuse_wrong_machine(self) -> None:
        if not self.is_live:
            return
        if not self.at(RUNS_SYSTEMD).is_dir() or not shutil.which("systemctl"):
            raise InstallError(f"this machine does not run systemd; {SHOWN}")
        if os.geteuid() != 0:
            raise InstallError(f"only root may change services; put sudo before it, or {SHOWN}")

    def _refuse_hidden(self, unit: ServiceUnit) -> None:
        if folder := unit.hidden_in:
            raise InstallError(
                f"{unit.program} is in {folder}, which the service cannot see; install Slipring "
                "elsewhere: python3 -m venv /opt/slipring && /opt/slipring/bin/pip install "
                "slipring, then run /opt/slipring/bin/slipring service install"
            )
        if self.is_live and not os.access(unit.program, os.X_OK):
            raise InstallError(f"there is no program {unit.program}; name it with --program")

    def _refuse_others(self) -> None:
        """A unit that a package or a person has put there is theirs."""
        for path in filter(Path.exists, map(self.at, OF_PACKAGE)):
            raise InstallError(f"a package has {path} already; `systemctl edit slipring` adapts it")
        unit = self.at(UNIT)
        if unit.exists() and not unit.read_text(errors="replace").startswith(MARK):
            raise InstallError(f"{unit} was written by somebody else; move it away first")

    def _write(self, path: PurePosixPath, text: str) -> str:
        file = self.at(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o644)
        return f"wrote {file}"

    def _write_config(self, path: PurePosixPath) -> str:
        """The first config file; one that is there stays as it is."""
        file = self.at(path)
        if file.exists():
            return f"kept {file}"
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
        file.write_text(FIRST_CONFIG, encoding="utf-8")
        file.chmod(0o640)
        return f"wrote {file}"


def _give_to_group(config: Path) -> None:
    """Let the service read its own config, and nobody else but root; other folders stay."""
    if config == Path(CONFIG):
        shutil.chown(config.parent, group=USER)
        shutil.chown(config, group=USER)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise InstallError(f"{' '.join(command)} failed: {said}")
