"""The crew and the ground over a real broker: words, sound, and questions with answers (G5, T2)."""

import asyncio
import json

import numpy as np

import slipring
from slipring.demo.crew import CHUNK_HZ, SOUND_HZ, Cockpit, control_the_flight
from tests.client.table_broker import table_url
from tests.demo.crew_aboard import aboard

__all__ = ["table_url"]


async def test_the_phase_is_a_retained_word_and_the_fuel_an_answer(table_url: str) -> None:
    async with aboard(table_url, "crews/1", 50.0) as bus:
        async with bus.subscribe("crews/1/crew/phase") as messages:
            phase = await anext(messages)
        answer = await bus.request("crews/1/ask/fuel", wait=True)
    assert phase.text == "taxi"
    assert json.loads(answer.text) == {"phase": "taxi", "fuel_kg": 2_268}


async def test_the_cockpit_hums(table_url: str) -> None:
    async with (
        aboard(table_url, "crews/2", 50.0) as bus,
        bus.stream("crews/2/cockpit/sound") as chunks,
    ):
        chunk = await anext(chunks)
    assert chunk.media == f"audio/pcm;rate={SOUND_HZ}"
    assert np.abs(np.frombuffer(chunk.payload, "<i2").astype(int)).max() > 5_000


async def test_the_ground_tells_the_wind_and_asks_for_the_fuel(table_url: str) -> None:
    asked: asyncio.Queue[slipring.Request] = asyncio.Queue()
    async with (
        slipring.connect(table_url) as bus,
        slipring.connect(table_url) as ground,
        bus.serve("crews/3/ask/fuel", asked.put),
        bus.subscribe("ground/#") as told,
    ):
        controlling = asyncio.create_task(control_the_flight(ground, "crews/3"))
        wind_ms = float((await anext(told)).text)
        request = await asked.get()
        controlling.cancel()
    assert 3 < wind_ms < 9
    assert request.topic == "crews/3/ask/fuel"


async def test_a_hum_goes_on_from_chunk_to_chunk_and_is_silent_with_the_engine_off(
    table_url: str,
) -> None:
    async with slipring.connect(table_url) as bus:
        cockpit = Cockpit(bus)
        assert not any(cockpit.hum()), "the engine stands still"
        cockpit._shaft_percent = 81.3
        waves = [np.frombuffer(cockpit.hum(), "<i2").astype(float) for _ in range(2)]
    assert [len(wave) for wave in waves] == [SOUND_HZ // CHUNK_HZ] * 2
    within = max(np.abs(np.diff(wave)).max() for wave in waves)
    assert abs(waves[1][0] - waves[0][-1]) <= within
