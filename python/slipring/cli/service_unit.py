"""The files that make a broker a service of systemd, as texts. Pure."""

from dataclasses import dataclass
from pathlib import PurePosixPath

USER = "slipring"
CONFIG = PurePosixPath("/etc/slipring/broker.toml")
STATE = PurePosixPath("/var/lib/slipring")
MARK = "# Written by `slipring service install`"
HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")  # noqa: S108 (nothing is written there)
"""Folders that the service cannot see: a program there would not start."""

UNIT = """\
{mark}; it writes this file again. Your changes: systemctl edit slipring
[Unit]
Description=Slipring, a broker for telemetry
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart={program} serve --config {config}
ExecReload=/bin/sh -c "kill -HUP $MAINPID"
Restart=on-failure
RestartSec=1
# A start reads what the journal holds; a stop writes what is on its way.
TimeoutStartSec=10min
TimeoutStopSec=90

# Who it is, and where it may write.
User={user}
Group={user}
WorkingDirectory={state}
StateDirectory={user}
StateDirectoryMode=0700
RuntimeDirectory={user}
UMask=0077
LimitNOFILE=524288
# A dump of its memory would hold passwords.
LimitCORE=0

# What it sees of the machine. /proc/meminfo must stay readable: the memory budget is a part of it.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectProc=invisible
ProtectHostname=yes
ProtectClock=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
RemoveIPC=yes
KeyringMode=private

# What it may do: nothing that needs a right of root, and no code that was not in a file.
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged

[Install]
WantedBy=multi-user.target
"""
SYSTEM_USER = f"""\
{MARK}.
u {USER} - "Slipring, a broker for telemetry" {STATE}
"""
FIRST_CONFIG = f"""\
# The broker of this machine, run by systemd as slipring.service. `slipring config` prints every
# key; `systemctl reload slipring` reads this file again.
data = "{STATE}"
"""


@dataclass(frozen=True)
class ServiceUnit:
    """Which program is run, and with which file."""

    program: PurePosixPath
    config: PurePosixPath = CONFIG

    @property
    def text(self) -> str:
        """The unit file."""
        paths = {"program": _escaped(self.program), "config": _escaped(self.config)}
        return UNIT.format(mark=MARK, user=USER, state=STATE, **paths)

    @property
    def hidden_in(self) -> str | None:
        """The folder that hides the program from the service; None if there is none."""
        above = map(str, self.program.parents)
        return next((folder for folder in above if folder in HIDDEN), None)


def _escaped(path: PurePosixPath) -> str:
    """As systemd reads it in a command: % and $ are doubled, what else is special is quoted."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    text = text.replace("$", "$$")
    return f'"{text}"' if any(one in text for one in " '\"\\;") else text
