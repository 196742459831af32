"""What the computing client makes of the jet's parameters."""

import numpy as np
import pytest

from slipring.demo.jet.curve import Floats
from slipring.demo.jet.derived import ACCELEROMETERS, DERIVED, INPUTS, Derivation

CALM = {
    "altitude": 6_000.0, "speed": 245.0, "fuel": 2_400.0, "flow": 0.8, "pressure_1": 207.0,
    "pressure_2": 206.0, "temperature_1": 58.0, "temperature_2": 58.0, "quantity_1": 98.0,
    "quantity_2": 97.0,
}  # fmt: skip
SECOND_NS = 1_000_000_000


def inputs(shaking: float = 0.0, **changed: float) -> Floats:
    """All inputs: a calm flight, but for what is changed."""
    main = [(CALM | changed)[name] for name in INPUTS]
    sensors = sum(map(len, ACCELEROMETERS.values()))
    return np.concatenate([main, np.tile([shaking, -shaking], sensors // 2)])


def results(*given: Floats) -> list[dict[str, float]]:
    """What comes out, a second apart."""
    derivation = Derivation()
    made = []
    for number, values in enumerate(given, start=1):
        derivation.take(values)
        found = derivation.result(number * SECOND_NS)
        assert found is not None
        made.append(dict(zip(DERIVED, found.tolist(), strict=True)))
    return made


def test_energy_height_endurance_and_health_of_a_calm_flight() -> None:
    (made,) = results(inputs())
    assert made["energy_height"] == pytest.approx(6_000 + 245**2 / 2 / 9.80665)
    assert made["fuel_endurance"] == pytest.approx(3_000)
    assert made["hydraulic_health"] == pytest.approx(100)
    assert made["specific_excess_power"] == 0


def test_excess_power_is_how_fast_the_energy_height_grows() -> None:
    climb = [inputs(altitude=6_000.0 + 50 * second) for second in range(20)]
    assert results(*climb)[-1]["specific_excess_power"] == pytest.approx(50, rel=0.01)


def test_a_failed_pump_ruins_the_health() -> None:
    assert results(inputs(pressure_1=33.0))[0]["hydraulic_health"] == 0
    assert 0 < results(inputs(quantity_2=60.0))[0]["hydraulic_health"] < 100


def test_vibration_is_the_root_of_the_mean_square_for_each_place() -> None:
    (made,) = results(inputs(shaking=3.0))
    shaken = [made[f"vibration/{place}/rms"] for place in ACCELEROMETERS]
    assert shaken == pytest.approx([3.0] * len(ACCELEROMETERS))


def test_an_engine_that_stands_still_lasts_for_long() -> None:
    assert results(inputs(flow=0.0))[0]["fuel_endurance"] == 36_000


def test_nothing_is_said_before_all_inputs_are_known_and_gaps_keep_what_was() -> None:
    derivation = Derivation()
    some = inputs()
    some[5:] = np.nan
    derivation.take(some)
    assert derivation.result(SECOND_NS) is None
    derivation.take(inputs())
    only_altitude = np.full(len(some), np.nan)
    only_altitude[0] = 7_000
    derivation.take(only_altitude)
    made = derivation.result(2 * SECOND_NS)
    assert made is not None
    assert made[0] == pytest.approx(7_000 + 245**2 / 2 / 9.80665)


def test_samples_of_one_time_do_not_divide_by_nothing() -> None:
    derivation = Derivation()
    derivation.take(inputs())
    for _ in range(2):
        made = derivation.result(SECOND_NS)
        assert made is not None
        assert np.isfinite(made).all()
