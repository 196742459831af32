"""Two brokers at once, without asyncio: parameters of the one are passed on to the other.

`python examples/forward.py mqtt://aircraft mqtt://ground "gripen/39-7/#"` declares on the ground
what the aircraft's broker has, and writes every sample there with its own time and quality. When
a link is lost it is made again; what the aircraft publishes meanwhile comes as its newest values.
"""

import sys

from slipring import sync


def forward(source: str, target: str, chosen: str) -> None:
    with sync.connect(source) as there, sync.connect(target) as here:
        parameters = {entry.name: entry.parameter for entry in there.table().matching(chosen)}
        copy = here.declare("", parameters, qos=1)
        with there.select(chosen) as frames:
            for frame in frames:
                for name, sample in frame.each():
                    if name in parameters:
                        value, time_ns = sample.value, sample.time_ns
                        copy.sample(name, value, time_ns=time_ns, quality=sample.quality)


if __name__ == "__main__":
    forward(*sys.argv[1:])
