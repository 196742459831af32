"""benches/RESULTS.md: one section for each program, replaced when it runs."""

import os
import platform
import re
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")


def record(section: str, text: str) -> None:
    """Replace what stands between the marks of a section."""
    pattern = rf"<!-- {section} -->.*<!-- /{section} -->"
    page = RESULTS.read_text()
    if not re.search(pattern, page, re.DOTALL):
        raise ValueError(f"{RESULTS} has no marks for {section}")
    new = f"<!-- {section} -->\n{text}<!-- /{section} -->"
    RESULTS.write_text(re.sub(pattern, lambda _: new, page, flags=re.DOTALL))


def machine() -> str:
    """Where it was measured, and how busy that was."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return (
        f"{os.cpu_count()} cores ({model[1] if model else platform.machine()}), "
        f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f} when it began"
    )
