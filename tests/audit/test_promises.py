"""What the audit promises: bounded in a flood, kept through a kill, read as any journal."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipring.journal.audit import AuditFilter, AuditReader
from tests.audit.records import all_records, awaited, of_kind
from tests.audit.users import PASSWORD, SECRET, USERS
from tests.configured_broker import Configured, ConfiguredBroker, configured
from tests.console_answer import answer_now, basic
from tests.raw_mqtt import PINGREQ, V5, Kind, RawPeer
from tests.spark_session import spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["configured", "spark"]

FLOOD = 100_000
HOSTILE = '\x1b[2J\x07"}\u202e'


def _anna(broker: ConfiguredBroker, client_id: str = "probe") -> RawPeer:
    return broker.peer(client_id, username="anna", password=PASSWORD)


def _get(broker: ConfiguredBroker, path: str) -> Any:
    return json.loads(_text(broker, path))


def _audit_command(tmp_path: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "slipring", "audit", "--data", str(tmp_path / "data")]
    done = subprocess.run(
        [*command, *arguments], check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout


def test_a_flood_of_denied_publishes_is_bounded_and_counted_and_disturbs_nobody(
    configured: Configured, tmp_path: Path
) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    with _anna(broker, "flood") as flood, _anna(broker, "bystander") as bystander:
        bystander.send(V5.subscribe(1, ("plant/x", 0)))
        bystander.until(Kind.SUBACK)
        for start in range(0, FLOOD, 1_000):
            flood.send(*(V5.publish(f"a/{number}") for number in range(start, start + 1_000)))
            bystander.send(V5.publish("plant/x", str(start).encode()))
            assert bystander.packet().payload == str(start).encode()
        flood.send(PINGREQ)
        flood.until(Kind.PINGRESP)
    broker.stop()
    records = all_records(data)
    assert len(records) < 10_000
    counted = sum(one["count"] for one in records if one["kind"] in ("denied", "lost"))
    assert counted == FLOOD
    lost = next(one for one in records if one["kind"] == "lost")
    assert (lost["user"], lost["outcome"]) == ("anna", "lost")


def test_a_kill_loses_nothing_that_was_written(configured: Configured, tmp_path: Path) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    with _anna(broker):
        awaited(data, of_kind("connected"))
        broker.running.process.send_signal(signal.SIGKILL)
        broker.running.process.wait(60)
    again = configured(USERS)
    with _anna(again, "second"):
        awaited(data, of_kind("connected", client="second"))
    kinds = [(one["kind"], one["client"]) for one in all_records(data)]
    started = [at for at, (kind, _) in enumerate(kinds) if kind == "started"]
    assert ("connected", "probe") in kinds[: started[1]]
    # A kill is seen in the audit itself: nothing says that the first run stopped.
    assert "stopped" not in [kind for kind, _ in kinds[: started[1]]]


def test_spark_and_the_journal_commands_read_it(
    configured: Configured, tmp_path: Path, spark: "SparkSession"
) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    with _anna(broker):
        awaited(data, of_kind("connected"))
    broker.stop()
    rows = spark.read.format("slipring").load(str(data / "audit")).select("topic", "payload")
    found = {row["topic"]: json.loads(bytes(row["payload"])) for row in rows.collect()}
    assert found["$slipring/audit/connected"]["user"] == "anna"
    command = [sys.executable, "-m", "slipring", "journal", "check", str(data / "audit")]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def test_its_retention_is_its_own(configured: Configured, tmp_path: Path) -> None:
    section = "\n[audit]\nsegment_bytes = 65536\nretain_bytes = 131072\n"
    broker, data = configured(USERS + section), tmp_path / "data"
    reader, until_s = None, time.monotonic() + 60
    while reader is None or reader._reader.first_offset == 0:
        assert time.monotonic() < until_s, "old records were not removed"
        for number in range(100):
            _anna(broker, f"client-{number}").close()
        reader = AuditReader(data / "audit") if (data / "audit").is_dir() else None
    assert sum(file.stat().st_size for file in (data / "audit").glob("*")) < 2_000_000
    broker.line("its oldest records are removed before they are as old as audit.retain_age_s")


def test_while_it_cannot_be_written_and_is_required_nobody_is_let_in(
    configured: Configured, tmp_path: Path
) -> None:
    """The folder of the audit is a file: the journal cannot be opened once users appear."""
    data = tmp_path / "data"
    broker = configured("allow_anonymous = true\n")
    (data / "audit").write_text("in the way")
    broker.reload(f"allow_anonymous = true\n{USERS}\n[audit]\nrequired = true\n")
    broker.line("its records are not written")
    with RawPeer(broker.running.host, broker.running.port) as peer:
        refused = peer.connect("x", username="anna", password=PASSWORD)
    assert refused.reason == 0x88
    (data / "audit").unlink()
    broker.line("its records are written again")
    _anna(broker).close()
    awaited(data, of_kind("connected"))


def test_hostile_text_stays_text(configured: Configured, tmp_path: Path) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    with _anna(broker, HOSTILE):
        awaited(data, of_kind("connected", client=HOSTILE))
    shown = _audit_command(tmp_path, "--kind", "connected")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert r"\x1b[2J" in shown
    lines = _audit_command(tmp_path, "--kind", "connected", "--json").splitlines()
    assert [json.loads(line)["client"] for line in lines] == [HOSTILE]


def test_the_console_shows_the_newest_filtered_and_in_pages(
    configured: Configured, tmp_path: Path
) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    for number in range(5):
        _anna(broker, f"client-{number}").close()
        awaited(data, of_kind("disconnected", client=f"client-{number}"))
    page = _get(broker, "/api/audit?kind=connected&most=3")
    assert [one["client"] for one in page["records"]] == ["client-4", "client-3", "client-2"]
    page = _get(broker, f"/api/audit?kind=connected&most=3&before={page['before']}")
    assert [one["client"] for one in page["records"]] == ["client-1", "client-0"]
    assert _get(broker, "/api/audit?user=nobody")["records"] == []
    assert "slipring_audit_records_total" in _text(broker, "/metrics")


def _text(broker: ConfiguredBroker, path: str) -> str:
    code, text = answer_now(broker.console + path, basic("root", SECRET))
    assert code == 200, text
    return text


def test_a_reader_finds_records_since_a_time(configured: Configured, tmp_path: Path) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    _anna(broker).close()
    record = awaited(data, of_kind("disconnected"))
    found, _ = AuditReader(data / "audit").page(AuditFilter(since_ns=record["at_ns"]), 10)
    assert [one["kind"] for one in found][-1] == "disconnected"


def test_records_wait_while_the_audit_cannot_be_opened(
    configured: Configured, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    broker = configured("allow_anonymous = true\n")
    (data / "audit").write_text("in the way")
    broker.reload(f"allow_anonymous = true\n{USERS}")
    broker.line("its records are not written")
    _anna(broker, "early").close()
    broker.line("early disconnected")
    (data / "audit").unlink()
    broker.line("its records are written again")
    awaited(data, of_kind("disconnected", client="early"))
    assert "connected" in [one["kind"] for one in all_records(data) if one["client"] == "early"]


def test_a_damaged_record_is_told_and_the_others_are_read(
    configured: Configured, tmp_path: Path
) -> None:
    broker, data = configured(USERS), tmp_path / "data"
    for number in range(3):
        _anna(broker, f"client-{number}").close()
        awaited(data, of_kind("disconnected", client=f"client-{number}"))
    broker.stop()
    whole = all_records(data)
    segment = min((data / "audit").glob("*.seg"))
    stored = bytearray(segment.read_bytes())
    stored[len(stored) // 2] ^= 1
    segment.write_bytes(stored)
    found = all_records(data)
    (lost,) = [one for one in found if one["kind"] == "lost"]
    assert "damaged" in lost["detail"] or "checksum" in lost["detail"]
    assert [one for one in found if one is not lost] == [one for one in whole if one in found]
    assert sum(one["count"] for one in found) == len(whole)
    assert (found[0]["kind"], found[-1]["kind"]) == ("started", "stopped")
    assert "lost" in _audit_command(tmp_path)
