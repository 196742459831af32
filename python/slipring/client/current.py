"""The broker's current samples, asked for once, from JSON to the types of the parameters."""

import base64
from collections.abc import Sequence
from typing import Any

from slipring.client.choice import ParameterChoice
from slipring.client.desk import Desk, in_requests
from slipring.client.mirror import Mirror
from slipring.model import Kind, Parameter, Quality, Sample, Value


async def current_samples(
    desk: Desk[Any], mirror: Mirror, choice: ParameterChoice
) -> tuple[dict[str, Sample], dict[str, str]]:
    """The samples of what is chosen, and names that are not there, each with the reason."""
    table = await mirror.cover(choice.filters, choice.names or ())
    samples, missing = dict[str, Sample](), dict[str, str]()
    for body in _bodies(choice):
        async for page in desk.pages("values", body):
            for row in page["values"]:
                entry = table.get(row["name"])
                if entry is not None:
                    samples[entry.name] = _sample_of(row, entry.parameter)
            missing |= {error["name"]: error["message"] for error in page["errors"]}
    return samples, missing


def _bodies(choice: ParameterChoice) -> Sequence[dict[str, Any]]:
    if choice.names is None:
        return [{"filter": one} for one in choice.filters]
    return [{"names": some} for some in in_requests(choice.names)]


def _sample_of(row: dict[str, Any], parameter: Parameter) -> Sample:
    """A sample from JSON, in the type of its parameter."""
    value, label = _value(row["value"], parameter)
    quality = Quality.of_words(row["quality"], row.get("why"))
    return Sample(value, row["time"], quality, label)


def _value(found: Any, parameter: Parameter) -> tuple[Value, str | None]:
    if parameter.labels and isinstance(found, str):
        numbers = {label: number for number, label in parameter.labels.items()}
        return numbers[found], found
    if parameter.kind is Kind.BYTES:
        return base64.b64decode(found), None
    if parameter.kind in {Kind.F32, Kind.F64}:
        return float(found), None
    value: Value = found
    return value, None
