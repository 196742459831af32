"""The equipment boxes: modes, counters, codes and part numbers of each."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.demo.jet.curve import STEP_HZ
from slipring.demo.jet.drivers import BLINK, CLOCK
from slipring.model import Parameter

MODES = {0: "off", 1: "starting", 2: "operating", 3: "degraded", 4: "failed"}
BOXES = tuple(f"{rack}{number:02}" for rack in "abcdefgh" for number in range(1, 26))
"""Eight racks of 25."""


def add(catalog: ChannelCatalog) -> None:
    """Box by box."""
    mode = ChannelSeries(
        "enum", "Mode of box {0}", ("equipment_mode",), labels=MODES, follows=True, rate_hz=5,
        source="{0}",
    )  # fmt: skip
    catalog.many("equipment/{0}/mode", (BOXES,), mode)
    test = ChannelSeries(
        "enum", "Built-in test {1} of box {0}", ("equipment_mode",), follows=True, rate_hz=1,
        labels={0: "not run", 1: "running", 2: "passed", 3: "failed"}, source="{0}",
    )  # fmt: skip
    catalog.many("equipment/{0}/test/{1}", (BOXES, (1, 2, 3)), test)
    for box in BOXES:
        uptime = Parameter("u32", unit="ms", description=f"Box {box} is powered since", rate_hz=1)
        catalog.one(f"equipment/{box}/uptime", uptime, CLOCK, gain=1_000)
        alive = Parameter("bool", description=f"Box {box} blinks while it lives", rate_hz=50)
        catalog.one(f"equipment/{box}/alive", alive, BLINK, offset=-0.5)
    for box in BOXES[:90]:
        frames = Parameter("u32", unit="1", description=f"Frames sent by box {box}", rate_hz=10)
        catalog.one(f"equipment/{box}/frames", frames, CLOCK, gain=STEP_HZ)
    errors = ChannelSeries(
        "u8", "Bus errors of box {0}", ("buffet", "control_effort"), unit="1", low=0, high=9,
        jitter=0.8, range=(0, 255), rate_hz=1, source="{0}",
    )  # fmt: skip
    catalog.many("equipment/{0}/errors", (BOXES,), errors)
    _texts(catalog)


def _texts(catalog: ChannelCatalog) -> None:
    catalog.text("flight/callsign", "Who it is on the radio", "Viking 7")
    catalog.text("flight/aircraft", "Which aircraft it is", "39-7")
    catalog.text("flight/phase_name", "Part of the flight, in words", "")
    catalog.text("warning/last", "The newest warning, in words", "")
    for number, box in enumerate(BOXES[:48]):
        part, version = f"3{number * 7919 % 100_000:05}-1", f"{number % 5 + 1}.{number % 9}.0"
        catalog.text(f"equipment/{box}/part_number", f"Part number of box {box}", part)
        catalog.text(f"equipment/{box}/software", f"Software of box {box}", version)
