"""The frames that are kept as files, with what is in them; every decoder is tested with them.

`cargo run -p slipring-wire --example keep_frames` writes them.
"""

import json
import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.frames.reference import Frame, Sample, Value

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "data").glob("*.hex"))


def frame_bytes(name: str) -> bytes:
    return unhex((HERE / "data" / f"{name}.hex").read_text())


def example_bytes() -> bytes:
    """The example of docs/frames.md."""
    page = (HERE.parents[1] / "docs" / "frames.md").read_text()
    return unhex(page.split("```hex\n")[1].split("```")[0])


def unhex(text: str) -> bytes:
    """`#` begins a remark."""
    return bytes.fromhex("".join(line.partition("#")[0] for line in text.splitlines()))


def expected(name: str) -> Frame:
    found: dict[str, Any] = json.loads((HERE / "data" / f"{name}.json").read_text())
    samples = [
        Sample(kind, index, time_ns, quality, value_of(kind, text))
        for kind, index, time_ns, quality, text in found.pop("samples")
    ]
    hops = tuple(found.pop("hops") or ()) or None
    return Frame(**found, hops=hops, samples=samples)


def value_of(kind: str, text: str) -> Value:
    match kind:
        case "bool":
            return text == "true"
        case "text":
            return text
        case "bytes":
            return bytes.fromhex(text)
        case "f32":
            return float(struct.unpack("<f", struct.pack("<f", float(text)))[0])
        case "f64":
            return float(text)
        case _:
            return int(text)


def comparable(frame: Frame) -> list[Sample]:
    """Its samples, with `nan` equal to itself."""
    return [
        replace(sample, value="nan")
        if isinstance(sample.value, float) and math.isnan(sample.value)
        else sample
        for sample in frame.samples
    ]
