"""A plot as a picture file, by matplotlib, without a screen."""

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from slipring.cli.plot_series import PlotLine, panels
from slipring.errors import LakeError

SUFFIXES = (".png", ".svg", ".pdf")
PANEL_INCHES = (10.0, 3.2)
DOTS_PER_INCH = 110
BAND_OPACITY = 0.25


def write_picture(lines: Sequence[PlotLine], title: str, suffix: str, stream: BinaryIO) -> None:
    """Draw a panel for each unit; windows have a band from their least to their largest value."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise LakeError(
            "a picture needs matplotlib: pip install 'slipring[plot]'; "
            "without --output the plot is shown in the terminal"
        ) from None
    shown = panels(lines)
    width, height = PANEL_INCHES
    figure = Figure((width, height * len(shown) + 0.6), layout="constrained", dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    axes = figure.subplots(len(shown), sharex=True, squeeze=False)
    for panel, (area,) in zip(shown, axes, strict=True):
        for line in panel.lines:
            times = (line.times_s * 1e6).astype("int64").astype("datetime64[us]")
            drawn = area.plot(*_with_pauses(line, times), label=line.name, linewidth=1.2)
            if not np.array_equal(line.low, line.high):
                area.fill_between(
                    times, line.low, line.high, color=drawn[0].get_color(), alpha=BAND_OPACITY, lw=0
                )
        area.set_ylabel(panel.unit)
        area.grid(alpha=0.3)
        area.legend(loc="best", fontsize="small")
    places = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes[-1][0].xaxis.set_major_locator(places)
    axes[-1][0].xaxis.set_major_formatter(ConciseDateFormatter(places))  # type: ignore[no-untyped-call]
    axes[-1][0].set_xlabel("source time (UTC)")
    figure.savefig(stream, format=suffix.removeprefix("."))


def _with_pauses(line: PlotLine, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points, with a NaN after each part: matplotlib does not draw over it."""
    begins = [part.start for part in line.parts()[1:]]
    return np.insert(times, begins, times[begins]), np.insert(line.values, begins, np.nan)
