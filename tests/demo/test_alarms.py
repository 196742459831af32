"""The alarms of the simulated jet: what it does raises them, and ends them again."""

from slipring.demo.jet import Jet
from slipring.demo.jet.curve import STEP_HZ

SOON_S, STARTED_S = 30, 40


def test_a_hot_start_takes_the_exhaust_gas_beyond_its_limit_within_half_a_minute() -> None:
    jet = Jet()
    limits = jet.parameters["engine/egt"].limits
    assert limits is not None
    assert limits.high is not None
    place = [name for name, one in jet.parameters.items() if one.type == "f32"].index("engine/egt")
    values = [float(jet.step().row["f32"][place]) for _ in range(STARTED_S * STEP_HZ)]
    hot = [number / STEP_HZ for number, value in enumerate(values) if value > limits.high]
    assert 20 < min(hot) < SOON_S
    assert max(hot) - min(hot) > 2
    assert values[-1] < limits.high
