"""`slipring service ...`: a broker that systemd starts; shown, installed, removed."""

import sysconfig
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

service: typer.Typer = typer.Typer(
    help="A broker that systemd starts: show, install.", no_args_is_help=True
)

Config = Annotated[Path, typer.Option(metavar="FILE", help="The config file that it is run with.")]
Program = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The program that is run; this one if it is missing."),
]
Root = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Write below it: an image that is being made.")
]
CONFIG = Path("/etc/slipring/broker.toml")


@service.command()
def show(config: Config = CONFIG, program: Program = None) -> None:
    """Print the unit, for another machine or to be adapted.

    It runs the broker as a user of its own, in a sandbox: it writes in /var/lib/slipring only.

    For example:

        slipring service show

        slipring service show --program /opt/slipring/bin/slipring > slipring.service
    """
    from slipring.cli.service_unit import ServiceUnit

    print(ServiceUnit(_absolute(program or _this_program()), _absolute(config)).text, end="")


@service.command()
def install(config: Config = CONFIG, program: Program = None, root: Root = Path("/")) -> None:
    """Write the unit, the user and a first config file; then tell how to start it. Needs root.

    A config file that is there stays. A second run renews the unit, after an upgrade for example.

    For example:

        sudo /opt/slipring/bin/slipring service install

        slipring service install --root image --program /opt/slipring/bin/slipring
    """
    from slipring.cli.service_installation import ServiceInstallation
    from slipring.cli.service_unit import ServiceUnit

    unit = ServiceUnit(_absolute(program or _this_program()), _absolute(config))
    installation = ServiceInstallation(root.absolute())
    print(*installation.install(unit), sep="\n")
    if installation.is_live:
        print("start it, now and at each boot: systemctl enable --now slipring")
        print("look at it: systemctl status slipring; journalctl -u slipring")


@service.command()
def uninstall(root: Root = Path("/")) -> None:
    """Stop the service and remove its unit. Its data, config and user stay. Needs root.

    For example:

        sudo /opt/slipring/bin/slipring service uninstall
    """
    from slipring.cli.service_installation import ServiceInstallation

    print(*ServiceInstallation(root.absolute()).uninstall(), sep="\n")
    print("kept: /etc/slipring, /var/lib/slipring and the user slipring")


def _this_program() -> Path:
    return Path(sysconfig.get_path("scripts")) / "slipring"


def _absolute(path: Path) -> PurePosixPath:
    return PurePosixPath(path.absolute())
