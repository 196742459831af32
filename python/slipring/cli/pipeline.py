"""`slipring pipeline run`: carries the journal into the lake until it is stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli.option_sets import option_sets
from slipring.cli.pipeline_access import PipelineAccess
from slipring.cli.pipeline_display import PipelineDisplay
from slipring.cli.recording_range import DATA, check_named
from slipring.cli.stop_signals import stop_on_signals
from slipring.errors import PipelineError
from slipring.journal.location import (
    JournalArchive,
    JournalBroker,
    JournalFolder,
    JournalLocation,
)
from slipring.recording.moment import parse_time

if TYPE_CHECKING:
    from slipring.pipeline.config import PipelineConfig
    from slipring.pipeline.pipeline_run import PipelineRun

pipeline: typer.Typer = typer.Typer(
    help="Carry the journal into a lake of tables, through Spark.", no_args_is_help=True
)


Jobs = Annotated[
    list[str] | None,
    typer.Argument(help="archive, rollup, derive, limits, latency, budget; archive if none."),
]
Data = Annotated[Path, typer.Option(help="Data folder of the broker, with its journal.")]
Lake = Annotated[
    str | None,
    typer.Option(
        help="Folder of the lake, or s3://bucket/prefix; by default `lake` in the data folder."
    ),
]
Config = Annotated[
    Path | None, typer.Option(help="TOML file with the section [pipeline].", exists=True)
]
Bus = Annotated[
    str | None,
    typer.Option(help="Publish derived parameters and alarms to this broker: mqtt://host:port."),
]
Backfill = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="FROM TO",
        help="With derive: compute this time again from history, as 2026-01-02T03:04:05Z.",
    ),
]
TriggerMs = Annotated[int, typer.Option(min=1, help="Milliseconds between two batches.")]
Once = Annotated[bool, typer.Option(help="Carry what is there now, then end.")]
Master = Annotated[str, typer.Option(help="The Spark master.")]
Conf = Annotated[
    list[str] | None, typer.Option(help="A setting of Spark, NAME=VALUE; may be given often.")
]
Consumer = Annotated[str, typer.Option(help="The name of this lake among the journal's consumers.")]
KeepBytes = Annotated[
    int | None,
    typer.Option(min=1, help="Bound the archive: beyond it the oldest files are removed."),
]
Broker = Annotated[
    str | None,
    typer.Option(
        "--broker",
        "--url",
        help="Read the journal from this broker instead: mqtt://host:port or mqtts://.",
    ),
]
Archive = Annotated[
    str | None,
    typer.Option(
        help="Read the journal from its archive, s3://bucket/prefix; what is newer, from --broker."
    ),
]


@pipeline.command("run")
@option_sets({"access": PipelineAccess})
def run_pipeline(  # noqa: PLR0913, PLR0917 (an option each)
    jobs: Jobs = None,
    data: Data = DATA,
    lake: Lake = None,
    config: Config = None,
    bus: Bus = None,
    backfill: Backfill = None,
    trigger_ms: TriggerMs = 500,
    once: Once = False,
    master: Master = "local[2]",
    conf: Conf = None,
    consumer: Consumer = "lake",
    keep_bytes: KeepBytes = None,
    broker: Broker = None,
    archive: Archive = None,
    *,
    access: PipelineAccess,
) -> None:
    """Carry the journal into the Delta tables of a lake, each sample and message exactly once.

    archive: samples, frames, messages. rollup: windows of 1 s, 1 min, 1 h. derive: your own
    parameters. limits: events and alarms. latency: age of samples. budget: bytes per vehicle.

    It continues where it stopped, however it was stopped. Ctrl-C and SIGTERM end it in seconds.

    For example:

        slipring pipeline run

        slipring pipeline run archive rollup --data /var/lib/slipring --lake /srv/lake --once

        slipring pipeline run derive limits --config slipring.toml --bus mqtt://127.0.0.1:1883

        slipring pipeline run --broker mqtts://broker.example --user lake --lake s3://lake/jet
    """
    from slipring.lake.storage import LakeLocation

    run_in_spark = _pipeline_run()
    settings, where = _config(config), LakeLocation.of(lake or data / "lake")
    given, names = access.options(settings.broker), jobs or ["archive"]
    _introduce(names, [archive, broker], data, where.uri)
    display = PipelineDisplay(_journal(data, broker, archive, given))
    made = run_in_spark(
        journal=display.journal,
        lake=where,
        config=settings,
        bus=None if bus is None else JournalBroker.from_options(bus, given),
        state=data / "pipeline",
        once=once,
        trigger_ms=trigger_ms,
        master=master,
        conf=_settings(conf or []),
        consumer=consumer,
        keep_bytes=keep_bytes,
        stop=stop_on_signals(),
        on_step=display.step,
        on_batch=display.archived,
        on_progress=display.taken,
    )
    _run(made, names, backfill, display)


def _pipeline_run() -> "type[PipelineRun]":
    """What runs the jobs; PipelineError names what is not installed before anything is printed."""
    from slipring.pipeline.job import require_packages

    require_packages("pyspark", "deltalake")
    from slipring.pipeline.pipeline_run import PipelineRun

    return PipelineRun


def _introduce(names: list[str], sources: list[str | None], data: Path, lake: str) -> None:
    source = " and ".join(filter(None, sources)) or data / "journal"
    print(f"slipring pipeline: {', '.join(names)}: {source} to {lake}", flush=True)


def _journal(
    data: Path, broker: str | None, archive: str | None, given: dict[str, str]
) -> JournalLocation:
    """The journal of a folder, of a broker elsewhere, or in an archive."""
    if archive is not None:
        return JournalArchive.from_options(archive, broker, given)
    if broker is not None:
        return JournalBroker.from_options(broker, given)
    check_named(data, "slipring pipeline run --data")
    return JournalFolder(str((data / "journal").absolute()))


def _run(
    made: "PipelineRun",
    names: list[str],
    backfill: tuple[str, str] | None,
    display: PipelineDisplay,
) -> None:
    if backfill is None:
        with display:
            made.run(names)
        return
    if names != ["derive"]:
        raise PipelineError("--backfill goes with the job derive alone")
    from_ns, to_ns = map(parse_time, backfill)
    print(f"  {made.backfill(from_ns, to_ns):,} values computed again", flush=True)


def _config(file: Path | None) -> "PipelineConfig":
    from slipring.pipeline.config import PipelineConfig, load_pipeline

    return PipelineConfig() if file is None else load_pipeline(file)


def _settings(given: list[str]) -> dict[str, str]:
    for text in given:
        if not text.partition("=")[1]:
            raise typer.BadParameter(
                f"{text!r} has no value; write NAME=VALUE", param_hint="--conf"
            )
    return {name.strip(): value for name, _, value in (text.partition("=") for text in given)}
