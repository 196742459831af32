"""The settings of Spark: quiet on one machine, and right for the workers of a cluster."""

import pytest

from slipring.errors import PipelineError
from slipring.pipeline.session import session_settings

CLUSTERS = ("spark://127.0.0.1:7077", "spark://127.0.0.1:7077,10.0.0.9:7077")


@pytest.fixture(autouse=True)
def _without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)


def test_on_one_machine_nothing_listens_elsewhere() -> None:
    settings = session_settings("local[2]")
    assert settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.sql.shuffle.partitions"] == "2"
    assert "spark.task.maxFailures" not in settings


@pytest.mark.parametrize("master", CLUSTERS)
def test_workers_reach_the_driver_where_it_reaches_the_master(master: str) -> None:
    settings = session_settings(master)
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert int(settings["spark.task.maxFailures"]) > 4


def test_an_address_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.0.0.1")
    assert "spark.driver.host" not in session_settings(CLUSTERS[0])


def test_a_master_that_cannot_be_found_is_named() -> None:
    with pytest.raises(PipelineError, match=r"no way to the Spark master nowhere\.invalid"):
        session_settings("spark://nowhere.invalid:7077")


def test_kubernetes_and_others_decide_about_addresses_themselves() -> None:
    assert "spark.driver.host" not in session_settings("k8s://https://kubernetes.default.svc")
