"""`slipring plot`: lines in the terminal, pictures, and one line when there is nothing to show."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from slipring.cli.plot_picture import write_picture
from slipring.cli.plot_series import PlotLine, panels, time_text
from slipring.cli.plot_terminal import BrailleCanvas, terminal_plot
from slipring.errors import LakeError
from tests.cli.commands import slipring
from tests.lake_samples import PREFIX, make_lake

BRAILLE = re.compile("[\u2801-\u28ff]")


def why(*arguments: str | Path) -> str:
    """The last line of a command that failed; a slow machine shows progress before it."""
    return slipring(*arguments, code=1).stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 s of 12 parameters at 50 Hz."""
    return make_lake(tmp_path_factory.mktemp("lake")).folder


def line(
    name: str, values: list[float], unit: str = "K", times: list[float] | None = None
) -> PlotLine:
    numbers = np.array(values)
    at = np.arange(len(values), dtype=np.float64) if times is None else np.array(times)
    return PlotLine(name, unit, at, numbers, numbers, numbers)


def test_a_terminal_shows_a_panel_for_each_unit_and_a_legend(lake: Path) -> None:
    shown = slipring(
        "plot", f"{PREFIX}/engine/+/egt", f"{PREFIX}/fuel/total", "--lake", lake
    ).stdout
    lines = shown.splitlines()
    assert lines[0] == f"{PREFIX}/engine/+/egt {PREFIX}/fuel/total, 1s, 2026-01-02 UTC"
    assert [one.strip() for one in lines if one.strip() in ("Cel", "kg")] == ["Cel", "kg"]
    assert f"━━ {PREFIX}/engine/1/egt  420 to 620, last " in shown
    assert len(BRAILLE.findall(shown)) > 100


def test_a_short_time_shows_every_sample(lake: Path) -> None:
    span = ("--from", "2026-01-02T03:00:10", "--to", "2026-01-02T03:00:20")
    shown = slipring("plot", f"{PREFIX}/engine/egt", *span, "--lake", lake).stdout
    assert ", every sample, 2026-01-02 UTC" in shown
    assert "03:00:10" in shown.splitlines()[-2]


def test_a_picture_is_written(lake: Path, tmp_path: Path) -> None:
    out = tmp_path / "egt.png"
    done = slipring("plot", f"{PREFIX}/engine/#", "--lake", lake, "--output", out)
    assert done.stderr == f"5 parameters in {out}\n"
    assert out.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(LakeError, match=r"pip install 'slipring\[plot\]'"):
        write_picture([line("a", [1.0, 2.0])], "a", ".png", None)  # type: ignore[arg-type]


def test_nothing_to_show_is_one_line_with_what_there_is(lake: Path) -> None:
    said = why("plot", f"{PREFIX}/engine/egg", "--lake", lake)
    assert f"did you mean {PREFIX}/engine/egt?" in said
    assert "no numbers" in why("plot", f"{PREFIX}/flight/phase_name", "--lake", lake)
    assert "name it .png" in why("plot", "#", "--lake", lake, "--output", "a.jpg")


def test_a_rising_line_goes_from_the_lowest_dot_to_the_uppermost() -> None:
    canvas = BrailleCanvas(2, 1)
    x = np.array([0.0, 1.0])
    canvas.draw(x, x, x, 0)
    # Four columns of dots: ⡠ has the lowest two, ⠊ the upper two.
    assert canvas.lines()[0].plain == "⡠⠊"


def test_a_steep_line_has_no_holes() -> None:
    canvas = BrailleCanvas(1, 3)
    canvas.draw(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0)
    rows = [row.plain for row in canvas.lines()]
    assert all(row != "\u2800" for row in rows)


def test_a_pause_is_not_drawn_over() -> None:
    times = [0.0, 1.0, 2.0, 100.0, 101.0]
    parts = line("a", [1.0] * 5, times=times).parts()
    assert parts == [slice(0, 3), slice(3, 5)]


def test_a_constant_and_a_single_value_are_shown() -> None:
    for values in ([5.0, 5.0, 5.0], [7.0], [0.0]):
        shown = terminal_plot([line("a", values)], 60, 12, "a")
        assert any(BRAILLE.search(row.plain) for row in shown)


def test_lines_of_one_unit_share_a_panel() -> None:
    lines = [line("a", [1.0]), line("b", [2.0], "m"), line("c", [3.0])]
    assert [(one.unit, len(one.lines)) for one in panels(lines)] == [("K", 2), ("m", 1)]


def test_the_axis_is_as_exact_as_its_span() -> None:
    seconds = 1_767_322_800.25
    found = [time_text(seconds, span) for span in (5, 60, 864_000)]
    assert found == ["03:00:00.250", "03:00:00", "01-02 03:00"]
