"""How finely samples are read: every one, or a rollup. The automatic choice suits a plot."""
# ruff: noqa: S608 (values are quoted, and a query cannot write)

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from slipring.lake.choice import TimeSpan, both

if TYPE_CHECKING:
    from slipring.lake.lake import Lake

Every = Literal["auto", "raw", "1s", "1m", "1h"]
WINDOWS_S: dict[str, int] = {"1s": 1, "1m": 60, "1h": 3_600}
"""The rollups, from the finest."""
POINTS_MAX = 2_000
"""More points than a screen has columns show nothing more."""


@dataclass(frozen=True)
class ChosenEvery:
    """The choice, and how many samples of one parameter there are by the rollups, at most."""

    every: Every
    rolled_up: int = 0

    def is_only_rolled_up(self, every: Every) -> bool:
        """Whether rollups know of samples that a reading of `every` may not have found."""
        return every == "raw" and self.rolled_up > 0


def finest_fitting(span_s: float) -> Every:
    """The finest rollup with at most POINTS_MAX windows in so many seconds; `1h` if none has."""
    fitting: list[Every] = ["1s", "1m", "1h"]
    return next((one for one in fitting if span_s <= WINDOWS_S[one] * POINTS_MAX), "1h")


def choose_every(lake: "Lake", condition: str, span: TimeSpan) -> ChosenEvery:
    """The finest detail with at most POINTS_MAX rows for a parameter."""
    names = lake.names()
    span_s = _span_s(lake, names, span)
    rollup = finest_fitting(span_s)
    if rollup != "1s":
        return ChosenEvery(rollup)
    rolled_up = _most_rolled_up(lake, names, condition, span)
    most = rolled_up or _most_samples(lake, names, condition, span)
    return ChosenEvery("1s" if most > POINTS_MAX else "raw", rolled_up)


def _span_s(lake: "Lake", names: list[str], span: TimeSpan) -> float:
    """The seconds that are asked for; a bound that is not given is that of the tables."""
    start, end = span.start, span.end
    if start is None or end is None:
        columns = {
            "samples": "source_time",
            **{f"rollup_{one}": "window_start" for one in WINDOWS_S},
        }
        known = [lake.table(name).time_bounds(columns[name]) for name in columns if name in names]
        bounds = [one for one in known if one is not None]
        if not bounds:
            return 0.0
        start = start or min(first for first, _ in bounds)
        end = end or max(last for _, last in bounds)
    return max(0.0, (end - start).total_seconds())


def _most_rolled_up(lake: "Lake", names: list[str], condition: str, span: TimeSpan) -> int:
    if "rollup_1s" not in names:
        return 0
    return _most(
        lake, "rollup_1s", 'sum("count" + bad)', (condition, span.condition("window_start"))
    )


def _most_samples(lake: "Lake", names: list[str], condition: str, span: TimeSpan) -> int:
    if "samples" not in names:
        return 0
    return _most(lake, "samples", "count(*)", (condition, span.condition("source_time")))


def _most(lake: "Lake", table: str, counted: str, conditions: tuple[str, str]) -> int:
    """The largest count of one parameter."""
    where = both(conditions)
    rows = f"SELECT {counted} AS n FROM {table}{f' WHERE {where}' if where else ''} GROUP BY index"
    found = lake.query(f"SELECT max(n) AS n FROM ({rows})")
    return found.column("n")[0].as_py() or 0
