"""The simulated aircraft."""

from slipring.demo.aircraft import PARAMETERS, samples


def test_it_has_100_parameters_with_names_of_their_own() -> None:
    assert len({parameter.name for parameter in PARAMETERS}) == 100


def test_every_value_is_a_number_and_every_wave_moves() -> None:
    first, later = dict(samples(0.0)), dict(samples(3.0))
    assert all(float(value) == float(value) for value in first.values())
    assert sum(first[topic] != later[topic] for topic in first) > 70


def test_the_same_time_gives_the_same_flight() -> None:
    assert list(samples(12.5)) == list(samples(12.5))
