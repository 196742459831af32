"""What the console answers while the engine does not."""

from starlette.responses import PlainTextResponse, Response

from slipring.control import Broker


async def silent(broker: Broker) -> Response | None:
    """Answer 503 while the engine is silent: waiting for it would block the event loop."""
    trouble = await broker.pulse.answered()
    return PlainTextResponse(f"engine: {trouble}\n", 503) if trouble else None
