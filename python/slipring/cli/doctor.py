"""`slipring doctor`: looks at the machine, the files and the broker, and says what to do."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli.access import URL_NAME, Access, with_access
from slipring.credentials import PASSWORD

if TYPE_CHECKING:
    from slipring.cli.doctor_finding import Check, Finding
    from slipring.control import Config

BROKER_S = 8.0
USER_IN_ADDRESS = re.compile(r"//[^/\s]*@")
COLOURS = {"ok": "green", "note": "yellow", "wrong": "red"}
CLOCK_MS_MAX = 100.0
"""A broker's clock that is further away is told."""


@with_access
def doctor(
    *,
    config: Annotated[
        Path | None, typer.Option(help="Check this config file, and what it names.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Data folder of the broker.", show_default="slipring-data")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
    access: Access,
) -> None:
    """Look whether all is well for a broker and its clients here, and say what to do.

    Versions, Java, ports, disk, limits, memory, clock, config, secret files, the journal's last
    segment, and the broker at --url. The exit code is 1 if something is wrong. It takes half a
    minute at most, and never shows a secret.

    For example:

        slipring doctor

        slipring doctor --config broker.toml --url mqtts://broker.example --ca ca.pem

        slipring doctor --json | jq 'select(.state != "ok")'
    """
    from slipring.cli.doctor_finding import State, run_checks

    settings = _Settings(config, data)
    found = run_checks({"config": settings.read})
    found += run_checks(_checks(settings.config, access))
    found = [_without_users(one) for one in found]
    if as_json:
        for one in found:
            print(json.dumps(asdict(one)))
    else:
        _show(found)
    sys.stdout.flush()
    # Not sys.exit: a thread that hangs in a call of the system may never end.
    os._exit(int(any(one.state is State.WRONG for one in found)))


class _Settings:
    """The configuration that is looked at: that of a file, or the defaults."""

    def __init__(self, file: Path | None, data: Path | None) -> None:
        from slipring.control import Config

        self._file = file
        self._data = data
        self.config = Config() if data is None else Config(data=data)

    def read(self) -> "Sequence[Finding]":
        """Read the file. With a mistake in it the defaults are looked at."""
        from slipring.cli.doctor_finding import ok
        from slipring.control import load_config

        if self._file is None:
            return [ok("config", "no file given: the defaults; --config FILE checks one")]
        self.config = load_config(self._file, data=self._data)
        doubts = [_doubt(doubt) for doubt in self.config.doubts]
        return [ok("config", f"{self._file} is fine"), *doubts]


def _checks(config: "Config", access: Access) -> "dict[str, Check]":
    from slipring.cli import doctor_machine as machine
    from slipring.cli import doctor_places as places

    addresses = {one.name: one.listen for one in config.listeners}
    return {
        "versions": lambda: list(machine.versions()),
        "java": lambda: list(machine.java()),
        "limits": lambda: list(machine.limits()),
        "clock": lambda: list(machine.clock()),
        "secrets": lambda: list(places.secret_files(_secrets(config, access))),
        "ports": lambda: list(places.ports(addresses | {"console": config.console.listen})),
        "disk": lambda: list(places.disk(config.data)),
        "journal": lambda: list(places.segment(config.data)),
        "broker": partial(_broker, access),
    }


def _doubt(doubt: str) -> "Finding":
    from slipring.cli.doctor_finding import note

    return note("config", doubt, "slipring config shows every key with its meaning")


def _secrets(config: "Config", access: Access) -> dict[str, Path]:
    """The files with secrets that are in use, by what they are for."""
    from slipring.cli.token_store import store_file

    named = {
        "password file": access.password_file,
        "token file": access.token_file,
        "key": access.key,
        "logins": store_file() if store_file().exists() else None,
    }
    named |= {f"key of {one.name}": one.key for one in config.listeners}
    return {name: path for name, path in named.items() if path is not None}


def _broker(access: Access) -> "Sequence[Finding]":
    from slipring.cli.doctor_finding import note, wrong
    from slipring.client.connecting import URL
    from slipring.errors import SlipringError

    is_named = access.url != URL or URL_NAME in os.environ
    if access.user and not (access.password_file or access.token_file or PASSWORD in os.environ):
        said = f"no password for {access.user!r}"
        return [wrong("broker", said, f"give --password-file, or set {PASSWORD}")]
    try:
        return list(asyncio.run(_asked(access)))
    except (SlipringError, typer.BadParameter, TimeoutError) as error:
        said = str(error) or f"{access.url} does not answer within {BROKER_S:g} s"
        if is_named:
            return [wrong("broker", said, "is the address right, the broker up, the way open?")]
        return [note("broker", said, "slipring serve starts one; --url names another")]


async def _asked(access: Access) -> "Sequence[Finding]":
    from slipring.cli.doctor_finding import note, ok
    from slipring.cli.ping import knows_clock

    async with asyncio.timeout(BROKER_S):
        async with access.connect(reconnect_s=0, timeout_s=BROKER_S / 2) as bus:
            trip_ms = await bus.ping() * 1e3
            answers = ok("broker", f"{bus.url} answers in {trip_ms:.1f} ms")
            if not await knows_clock(bus):
                return [answers]
            offset_ms = (bus.clock.offset_ns or 0) / 1e6
            within_ms = (bus.clock.uncertainty_ns or 0) / 1e6
    said = (
        f"{abs(offset_ms):.1f} ms {'ahead' if offset_ms >= 0 else 'behind'}, ± {within_ms:.1f} ms"
    )
    if abs(offset_ms) - within_ms > CLOCK_MS_MAX:
        return [answers, note("broker's clock", said, "synchronise both machines with NTP")]
    return [answers, ok("broker's clock", said)]


def _without_users(finding: "Finding") -> "Finding":
    """The same; what an address has before @ may be a secret."""
    return replace(finding, said=USER_IN_ADDRESS.sub("//", finding.said))


def _show(found: "Sequence[Finding]") -> None:
    for line in _lines(found, is_coloured=sys.stdout.isatty()):
        print(line)


def _lines(found: "Sequence[Finding]", *, is_coloured: bool) -> Iterator[str]:
    width = max(len(one.name) for one in found)
    for one in found:
        state = f"{one.state:<5}"
        if is_coloured:
            state = typer.style(state, fg=COLOURS[one.state])
        yield f"{state}  {one.name:<{width}}  {one.said}"
        if one.remedy:
            yield f"{'':<5}  {'':<{width}}  -> {one.remedy}"
