"""A line chart as SVG: enough for the figures that the benchmarks draw, without a library."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
COLOURS = ("#1f5fa8", "#8a8a8a", "#c0392b", "#2e8b57")

Points = Sequence[tuple[float, float]]


def chart(title: str, x_name: str, y_name: str, lines: Mapping[str, Points]) -> str:
    """Lines by name, with axes from zero."""
    x_max = max(x for points in lines.values() for x, _ in points)
    y_max = max(y for points in lines.values() for _, y in points) * 1.1 or 1.0

    def place(point: tuple[float, float]) -> tuple[float, float]:
        x, y = point
        across = LEFT + x / x_max * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - y / y_max * (HEIGHT - TOP - BOTTOM)

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
    for step in range(5):
        value = y_max * step / 4
        _, down = place((0, value))
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}" '
            'stroke="#e0e0e0"/>'
        )
        parts.append(_text(LEFT - 6, down + 4, f"{value:.2g}", "end"))
    ticks = sorted({x for points in lines.values() for x, _ in points})
    parts += [_text(place((x, 0))[0], HEIGHT - BOTTOM + 16, f"{x:g}", "middle") for x in ticks]
    for number, (name, points) in enumerate(lines.items()):
        parts += _line(name, [place(point) for point in points], number)
    return "\n".join([*parts, "</svg>", ""])


def _line(name: str, points: Points, number: int) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    key = _text(LEFT + 30 + 130 * number, TOP - 4, name, "start")
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        (
            f'<rect x="{LEFT + 12 + 130 * number}" y="{TOP - 14}" width="12" height="12" '
            f'fill="{colour}"/>'
        ),
        key,
    ]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
