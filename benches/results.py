"""benches/RESULTS.md: one section for each program, replaced when it runs."""

import os
import platform
import re
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
NOTABLE_SHARE = 0.01
"""Of the processor time: as much as others on the host may take without a word about it."""


def _processor_times() -> list[int]:
    """Ticks since the start of the system, by kind: user, nice, system, idle, and so on."""
    return [int(ticks) for ticks in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]


_BEGAN = _processor_times()


def record(section: str, text: str) -> None:
    """Replace what stands between the marks of a section."""
    pattern = rf"<!-- {section} -->.*<!-- /{section} -->"
    page = RESULTS.read_text()
    if not re.search(pattern, page, re.DOTALL):
        raise ValueError(f"{RESULTS} has no marks for {section}")
    new = f"<!-- {section} -->\n{_taken_by_others()}{text}<!-- /{section} -->"
    RESULTS.write_text(re.sub(pattern, lambda _: new, page, flags=re.DOTALL))


def machine() -> str:
    """Where it was measured, and how busy that was."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return (
        f"{os.cpu_count()} cores ({model[1] if model else platform.machine()}), "
        f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f} when it began"
    )


def _taken_by_others() -> str:
    """What other machines on the same host took meanwhile: it delays whoever waits for a core."""
    spent = [now - then for now, then in zip(_processor_times(), _BEGAN, strict=True)]
    stolen = spent[7] / max(1, sum(spent[:8]))
    if stolen < NOTABLE_SHARE:
        return ""
    return f"The host gave {stolen:.0%} of the processor time to others meanwhile. "
