"""The flight of the simulated jet: its main signals over one whole flight."""

import numpy as np
import pytest

from slipring.demo.jet.curve import STEP_S, Floats, lagged, latched, smooth
from slipring.demo.jet.drivers import flight
from slipring.demo.jet.timeline import FAULT_S, FLIGHT_S, PHASES

DRIVERS = flight()


def over(name: str, phase: str | None = None) -> Floats:
    """A signal over the flight, or over one phase of it."""
    signal = DRIVERS.signal(name)
    if phase is None:
        return signal
    number = [one.name for one in PHASES].index(phase)
    chosen: Floats = signal[DRIVERS.signal("phase") == number]
    return chosen


def largest_step(name: str) -> float:
    """Between two neighbours, the last and the first of the flight included."""
    signal = over(name)
    return float(np.abs(np.diff(np.append(signal, signal[0]))).max())


def test_the_flight_is_finite_and_has_every_phase_in_order() -> None:
    assert np.isfinite(DRIVERS.matrix).all()
    assert len(over("phase")) == FLIGHT_S / STEP_S
    assert (np.diff(over("phase")) >= 0).all()
    assert set(over("phase")) == set(range(len(PHASES)))


@pytest.mark.parametrize(
    ("name", "per_second_max"),
    [
        ("altitude", 200), ("speed", 10), ("calibrated_speed", 10), ("mach", 0.05),
        ("pitch", 15), ("load_factor", 5), ("fuel", 40), ("n2", 40), ("egt", 250),
        ("latitude", 0.003), ("longitude", 0.006), ("hydraulic_1_pressure", 60),
        ("cabin_altitude", 100), ("oil_temperature", 5),
    ],
)  # fmt: skip
def test_nothing_jumps_not_even_from_one_flight_to_the_next(
    name: str, per_second_max: float
) -> None:
    assert largest_step(name) <= per_second_max * STEP_S


def test_it_taxies_takes_off_climbs_and_comes_back() -> None:
    assert over("altitude", "taxi").max() == over("altitude").min() == 52
    assert 5 < over("speed", "taxi").max() < 15
    assert over("on_wheels", "take-off")[0] == 1
    assert over("on_wheels", "take-off")[-1] == 0
    assert over("altitude", "cruise").min() > 5_500
    assert over("gear", "cruise").max() == 0
    assert over("gear", "landing").min() == 1
    assert over("speed", "turnaround").max() == 0
    assert over("on_wheels", "landing").min() == 1


def test_it_flies_manoeuvres() -> None:
    assert over("roll", "roll").min() < -170
    assert over("roll", "roll").max() > 170
    assert over("load_factor", "pull-ups").max() > 4
    assert over("load_factor", "pull-ups").min() < -1
    assert over("load_factor", "turn").max() > 3.5
    assert np.abs(over("roll", "turn")).max() > 70
    assert abs(over("load_factor", "cruise")[-1] - 1) < 0.01


def test_energy_is_paid_for_by_thrust() -> None:
    """What the path asks of the engine is there, but for moments."""
    missing = over("thrust_wanted") - over("thrust")
    assert np.percentile(missing, 95) < 4_000
    assert missing.max() < 10_000
    assert over("afterburner", "climb").any()
    assert not over("afterburner", "approach").any()


def test_fuel_is_the_sum_of_what_flowed_and_is_filled_up_again() -> None:
    flying = over("elapsed") < 862
    used = np.cumsum(over("fuel_flow")) * STEP_S
    assert np.allclose(over("fuel")[flying], over("fuel")[0] + used[0] - used[flying])
    assert 400 < over("fuel")[0] - over("fuel").min() < 1_500
    tanks = sum(over(f"tank_{name}") for name in ("forward", "aft", "left", "right", "centre"))
    assert np.allclose(tanks, over("fuel"))


def test_the_pump_fails_the_warning_stays_and_fuel_is_rebalanced() -> None:
    before, after = over("elapsed") < FAULT_S, over("elapsed") > FAULT_S + 20
    flying = over("speed") > 50
    assert over("hydraulic_1_pressure")[before & flying].min() > 195
    assert over("hydraulic_1_pressure")[after].max() < 100
    assert over("hydraulic_2_pressure")[after & flying].min() > 180
    lit = over("warning_hydraulic_1")
    assert not lit[before].any()
    assert lit[after & (over("elapsed") < 865)].all()
    assert not lit[-1]
    assert over("fuel_imbalance").max() > 120
    moved = over("fuel_transfer") > 0
    assert over("fuel_imbalance")[moved][-1] < 10 < over("fuel_imbalance")[moved][0]
    assert not over("warning_hydraulic_2").any()


def test_the_flight_ends_where_it_began_with_a_wind_that_can_be() -> None:
    assert np.hypot(*(over(axis)[-1] - over(axis)[0] for axis in ("latitude", "longitude"))) < 1e-4
    assert over("wind_speed").max() < 15


def test_a_curve_has_the_rate_and_the_acceleration_it_says() -> None:
    times = np.linspace(0, 10, 5_001)
    value, rate, acceleration = smooth(times, [(1, 2), (4, 8), (9, -3)])
    assert value[0] == 2
    assert value[-1] == -3
    assert np.allclose(np.gradient(value, times), rate, atol=0.02)
    assert np.allclose(np.gradient(rate, times), acceleration, atol=0.1)


@pytest.mark.parametrize("tau_s", [0.1, 3.0])
def test_a_lag_is_what_a_plain_loop_makes(tau_s: float) -> None:
    wanted = np.random.default_rng(1).normal(size=4_000)
    value = lagged(wanted, tau_s)[-1]
    for place, made in enumerate(lagged(wanted, tau_s)):
        value += (1 - np.exp(-STEP_S / tau_s)) * (wanted[place] - value)
        assert made == pytest.approx(value, abs=1e-4)


def test_a_latch_holds_until_it_is_reset() -> None:
    raised = np.array([0, 1, 0, 0, 0, 1, 0], bool)
    reset = np.array([0, 0, 0, 1, 0, 0, 0], bool)
    assert latched(raised, reset).tolist() == [False, True, True, False, False, True, True]
