"""A line chart as SVG: enough for the figures that the benchmarks draw, without a library."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 30, 40, 50
LETTER_WIDTH = 6.5
COLOURS = ("#1f5fa8", "#8a8a8a", "#c0392b", "#2e8b57", "#b8860b", "#6a3d9a")

Points = Sequence[tuple[float, float]]


def chart(
    title: str, x_name: str, y_name: str, lines: Mapping[str, Points], *, is_log: bool = False
) -> str:
    """Lines by name, with axes from zero; or with a decade for each power of ten."""
    xs = sorted({x for points in lines.values() for x, _ in points})
    ys = sorted({y for points in lines.values() for _, y in points})
    x_axis, x_ticks = _decades(xs) if is_log else (_linear(xs[-1]), xs)
    y_max = ys[-1] * 1.1 or 1.0
    y_axis, y_ticks = _decades(ys) if is_log else (_linear(y_max), _quarters(y_max))

    def place(point: tuple[float, float]) -> tuple[float, float]:
        x, y = point
        across = LEFT + x_axis(x) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - y_axis(y) * (HEIGHT - TOP - BOTTOM)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, 20, title, "middle"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_name, "middle"),
        _text(8, TOP - 12, y_name, "start"),
    ]
    for value in y_ticks:
        _, down = place((x_ticks[0], value))
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}" '
            'stroke="#e0e0e0"/>'
        )
        parts.append(_text(LEFT - 6, down + 4, _number(value), "end"))
    bottom = HEIGHT - BOTTOM + 16
    parts += [_text(place((x, ys[-1]))[0], bottom, _number(x), "middle") for x in x_ticks]
    for number, points in enumerate(lines.values()):
        parts += _line([place(point) for point in points], number)
    return "\n".join([*parts, *_key(list(lines)), "</svg>", ""])


Axis = Callable[[float], float]
"""Where a value is between the ends of an axis, from 0 to 1."""


def _linear(most: float) -> Axis:
    return lambda value: value / most


def _quarters(most: float) -> list[float]:
    return [most * step / 4 for step in range(5)]


def _decades(values: Sequence[float]) -> tuple[Axis, list[float]]:
    """An axis over whole decades, and the powers of ten on it."""
    first, last = math.floor(math.log10(values[0])), math.ceil(math.log10(values[-1]))
    last = max(last, first + 1)
    ticks = [10.0**power for power in range(first, last + 1)]
    return lambda value: (math.log10(value) - first) / (last - first), ticks


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _line(points: Points, number: int) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def _key(names: Sequence[str]) -> list[str]:
    """What each colour is, in as many rows as the names need."""
    parts, across, down = list[str](), float(LEFT), TOP - 4
    for number, name in enumerate(names):
        width = 30 + LETTER_WIDTH * len(name)
        if across + width > WIDTH:
            across, down = float(LEFT), down + 16
        colour = COLOURS[number % len(COLOURS)]
        parts.append(
            f'<rect x="{across:.1f}" y="{down - 10}" width="12" height="12" fill="{colour}"/>'
        )
        parts.append(_text(across + 16, down, name, "start"))
        across += width
    return parts


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
