"""What the console answers for an engine that does not."""

from starlette.responses import PlainTextResponse, Response

from slipring.control import Broker


async def silent(broker: Broker) -> Response | None:
    """Answer for an engine that does not: who asks it for more would wait, and all others too."""
    trouble = await broker.pulse.answered()
    return PlainTextResponse(f"engine: {trouble}\n", 503) if trouble else None
