"""A plot for a terminal, in Braille characters: each has two by four dots. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from slipring.cli.display import printable
from slipring.cli.plot_series import (
    Floats,
    PlotLine,
    PlotPanel,
    day_text,
    panels,
    time_bounds,
    time_text,
    value_text,
)

COLOURS = ("cyan", "yellow", "green", "magenta", "red", "blue", "bright_white", "bright_green")
LINES_MAX = len(COLOURS)
PANEL_ROWS_MIN = 5
LABEL_WIDTH = 10
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot, by row and column."""
_BLANK = 0x2800


class BrailleCanvas:
    """Dots in cells of two by four; a cell has the colour of the line that was drawn last there."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self._bits = np.zeros((rows, columns), np.int64)
        self._colours = np.full((rows, columns), -1)

    def draw(self, x: Floats, low: Floats, high: Floats, colour: int) -> None:
        """A line through points, as high as their bounds; all from 0 to 1, from bottom left."""
        columns, tops, bottoms = self._dots(x, low, high)
        for column, top, bottom in zip(columns, tops, bottoms, strict=True):
            rows = np.arange(top, bottom + 1)
            bits = _DOTS[rows % 4, column % 2]
            np.bitwise_or.at(self._bits, (rows // 4, column // 2), bits)
            self._colours[rows // 4, column // 2] = colour

    def lines(self) -> list[Text]:
        """The rows from the top."""
        return [
            self._line(bits, colours)
            for bits, colours in zip(self._bits, self._colours, strict=True)
        ]

    def _dots(self, x: Floats, low: Floats, high: Floats) -> tuple[NDArray[np.int64], ...]:
        """For each column of dots its uppermost and lowest dot; the line goes on between points."""
        width, height = self.columns * 2 - 1, self.rows * 4 - 1
        at = np.rint(x * width).astype(np.int64)
        columns = np.arange(at[0], at[-1] + 1)
        # Columns without a point are on the line between its neighbours.
        bounds = [np.interp(columns / width, x, one) for one in (low, high)]
        np.minimum.at(bounds[0], at - at[0], low)
        np.maximum.at(bounds[1], at - at[0], high)
        tops, bottoms = (height - np.rint(one * height).astype(np.int64) for one in bounds[::-1])
        # A steep line has no holes: each column begins beside the dots of the one before.
        above, below = tops[:-1] - 1, bottoms[:-1] + 1
        joined = np.minimum(tops[1:], below), np.maximum(bottoms[1:], above)
        tops[1:], bottoms[1:] = joined
        return columns, tops.clip(0, height), bottoms.clip(0, height)

    @staticmethod
    def _line(bits: NDArray[np.int64], colours: NDArray[np.int64]) -> Text:
        made = Text(no_wrap=True)
        for one, colour in zip(bits.tolist(), colours.tolist(), strict=True):
            made.append(chr(_BLANK + one), COLOURS[colour] if colour >= 0 else None)
        return made


def terminal_plot(lines: Sequence[PlotLine], columns: int, rows: int, title: str) -> list[Text]:
    """The rows of a plot that is so wide and about so high."""
    first, last = time_bounds(lines)
    shown = panels(lines)
    each = max(PANEL_ROWS_MIN, (rows - len(lines) - 3) // len(shown) - 1)
    width = max(20, columns - LABEL_WIDTH - 2)
    colour_of = {line.name: place % LINES_MAX for place, line in enumerate(lines)}
    made = [Text(f"{title}, {day_text(first)} UTC", "bold")]
    for panel in shown:
        made += _panel(panel, (first, last), (width, each), colour_of)
    made.append(_time_axis(first, last, width))
    made += [_legend(line, colour_of[line.name]) for line in lines]
    return made


def _panel(
    panel: PlotPanel,
    times_s: tuple[float, float],
    cells: tuple[int, int],
    colour_of: dict[str, int],
) -> list[Text]:
    low, high = panel.bounds
    canvas = BrailleCanvas(*cells)
    for line in panel.lines:
        x = (line.times_s - times_s[0]) / (times_s[1] - times_s[0])
        for part in line.parts():
            least, most = ((one[part] - low) / (high - low) for one in (line.low, line.high))
            canvas.draw(x[part], least, most, colour_of[line.name])
    labels = {0: value_text(high), cells[1] // 2: value_text((low + high) / 2)}
    labels[cells[1] - 1] = value_text(low)
    made = [Text(f"{panel.unit or 'without unit':>{LABEL_WIDTH}}", "dim")]
    for place, row in enumerate(canvas.lines()):
        made.append(Text(f"{labels.get(place, ''):>{LABEL_WIDTH}} │", "dim") + row)
    return made


def _time_axis(first: float, last: float, width: int) -> Text:
    span_s = last - first
    texts = [time_text(first + span_s * share, span_s) for share in (0, 0.5, 1)]
    room = width - sum(map(len, texts))
    middle = texts[1].center(len(texts[1]) + max(2, room))
    return Text(f"{'':>{LABEL_WIDTH}} └{texts[0]}{middle}{texts[2]}", "dim")


def _legend(line: PlotLine, colour: int) -> Text:
    bounds = f"{value_text(float(line.low.min()))} to {value_text(float(line.high.max()))}"
    last = f"last {value_text(float(line.values[-1]))}{f' {line.unit}' if line.unit else ''}"
    return Text("━━ ", COLOURS[colour]) + Text(
        f"{printable(line.name)}  {bounds}, {last}", "default"
    )
