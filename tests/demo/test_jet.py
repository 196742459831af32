"""The simulated jet: 20,000 parameters, their types, ranges and values."""

import itertools
from collections import Counter

import numpy as np
import pytest

from slipring.demo.jet import FlightStep, Jet
from slipring.demo.jet.parts import MIX
from slipring.demo.jet.timeline import FAULT_S, PHASES
from slipring.dictionary.ucum import fault
from slipring.model import Kind

DTYPES = {
    "bool": np.bool_, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "i16": np.int16,
    "i32": np.int32, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


@pytest.fixture(scope="module")
def parked() -> Jet:
    return Jet()


def values(jet: Jet, flight_step: FlightStep) -> dict[str, object]:
    """Every value by name."""
    rows = {word: iter(row) for word, row in flight_step.row.items()}
    return {name: next(rows[one.kind.word]) for name, one in jet.parameters.items()}


def test_it_has_20_000_parameters_of_the_promised_types(parked: Jet) -> None:
    assert Counter(one.type for one in parked.parameters.values()) == MIX
    assert sum(MIX.values()) == 20_000


def test_every_parameter_is_described_and_most_come_50_times_a_second(parked: Jet) -> None:
    rates = Counter(one.rate_hz for one in parked.parameters.values())
    assert all(one.description for one in parked.parameters.values())
    assert rates[50] > 15_000
    assert set(rates) == {50, 10, 5, 1}


def test_every_unit_is_ucum(parked: Jet) -> None:
    units = {one.unit for one in parked.parameters.values() if one.unit}
    assert {unit for unit in units if fault(unit)} == set()
    assert len(units) > 20


def test_names_are_topics_below_the_aircraft(parked: Jet) -> None:
    for name in parked.parameters:
        assert "" not in name.split("/")
        assert not set("+#$ ") & set(name)
    assert {"engine/rpm", "air/altitude", "motion/load_factor"} < set(parked.parameters)


def test_a_row_has_an_array_of_the_true_type_for_each_kind() -> None:
    jet = Jet()
    row = jet.step().row
    kinds = Counter(one.kind for one in jet.parameters.values())
    assert {Kind.of_word(word): len(row[word]) for word in row} == kinds
    assert {word: row[word].dtype for word in row if word != "text"} == DTYPES
    assert all(isinstance(text, str) for text in row["text"])


def test_values_keep_their_ranges_and_labels_through_the_flight() -> None:
    for start_s in (0, 100, 200, 350, 400, 445, 490, 700, 775, 880):
        jet = Jet(start_s=start_s)
        moments = [jet.step() for _ in range(60)]
        for name, value in values(jet, moments[-1]).items():
            parameter = jet.parameters[name]
            if parameter.labels:
                assert value in parameter.labels, name
            elif parameter.range is not None:
                low, high = parameter.range
                assert low <= value <= high, name  # type: ignore[operator]


def test_altitude_and_speed_never_jump() -> None:
    jet = Jet(start_s=100)
    chosen = ["air/altitude", "air/true_airspeed"]
    places = [
        [n for n, p in jet.parameters.items() if p.type == "f32"].index(one) for one in chosen
    ]
    rows = np.array([jet.step().row["f32"][places] for _ in range(500)])
    assert np.abs(np.diff(rows, axis=0)).max(axis=0) == pytest.approx([0, 0], abs=4)


def test_every_phase_is_announced() -> None:
    said: list[object] = []
    start_s = 0
    for phase in PHASES:
        jet = Jet(start_s=start_s + phase.seconds / 2)
        flight_step = jet.step()
        named = values(jet, flight_step)
        assert named["flight/phase"] == len(said)
        said.append(named["flight/phase_name"])
        start_s += phase.seconds
    assert said == [phase.name for phase in PHASES]


def test_the_fault_is_seen_in_the_parameters() -> None:
    before, after = (Jet(start_s=FAULT_S + shift_s) for shift_s in (-5, 30))
    calm, failed = (values(jet, jet.step()) for jet in (before, after))
    assert calm["hydraulics/1/pressure"] > 190  # type: ignore[operator]
    assert failed["hydraulics/1/pressure"] < 60  # type: ignore[operator]
    assert (calm["warning/hydraulic_1"], failed["warning/hydraulic_1"]) == (False, True)
    assert (calm["warning/last"], failed["warning/last"]) == (
        "", "Pressure of hydraulic system 1 is low",
    )  # fmt: skip


def test_texts_are_marked_when_they_change() -> None:
    jet = Jet(start_s=39.9)
    changed = [jet.step().texts_changed for _ in range(10)]
    assert changed == [True, *[False] * 4, True, *[False] * 4]


def test_most_parameters_move_and_slow_ones_keep_their_value_meanwhile() -> None:
    jet = Jet(start_s=395)
    steps = [jet.step().row["f32"] for _ in range(50)]
    changed = np.array([one != other for one, other in itertools.pairwise(steps)])
    rates = np.array([p.rate_hz for p in jet.parameters.values() if p.type == "f32"])
    assert changed[:, rates == 50].mean() > 0.9
    assert changed[:, rates == 5].sum(axis=0).max() <= 5


def test_the_same_seed_flies_the_same_flight() -> None:
    one, same, other = Jet(seed=3), Jet(seed=3), Jet(seed=4)
    rows = [[jet.step() for _ in range(20)][-1].row for jet in (one, same, other)]
    assert all((rows[0][word] == rows[1][word]).all() for word in DTYPES)
    assert (rows[0]["f32"] != rows[2]["f32"]).any()
