"""Layouts over HTTP: checked, bounded, kept, and never overwritten unseen."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import slipring.sync
from slipring import Parameter
from slipring.control.layout import KINDS, LAYOUT_BYTES_MAX, WIDGETS_MAX
from slipring.control.layout_store import LAYOUTS_MAX
from tests.audit.records import awaited, of_kind
from tests.console.test_login import USERS, logged_in, people, user
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in, shared_broker

__all__ = ["people", "shared_broker"]

GAUGE: dict[str, Any] = {
    "kind": "gauge",
    "title": "Shaft",
    "x": 0,
    "y": 0,
    "w": 3,
    "h": 4,
    "options": {"names": ["own/rpm"]},
}
CLIMB: dict[str, Any] = {"title": "Climb", "widgets": [GAUGE]}
JET = {
    "gripen/1/air/altitude": Parameter("f32", unit="m"),
    "gripen/1/engine/rpm": Parameter("f64", unit="1/min"),
    "gripen/1/engine/stage": Parameter("enum", labels={0: "off", 1: "running"}),
    "gripen/2/air/altitude": Parameter("f32", unit="m"),
    "gripen/2/motion/load_factor": Parameter("f32", unit="[g]"),
}


def client(broker: RunningBroker, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=broker.console, timeout=PATIENCE_S, headers=headers)


def listed(http: httpx.Client) -> dict[str, Any]:
    return {one["name"]: one for one in http.get("/api/layouts").json()["layouts"]}


def own(http: httpx.Client) -> list[str]:
    return [name for name, one in listed(http).items() if not one["is_ready_made"]]


def test_a_layout_is_saved_listed_read_and_removed(shared_broker: RunningBroker) -> None:
    with client(shared_broker) as http:
        saved = http.put("/api/layouts/climb", json=CLIMB)
        assert saved.status_code == 200, saved.text
        row = listed(http)["climb"]
        assert (row["title"], row["is_ready_made"], row["by"]) == ("Climb", False, None)
        assert row["changed_ms"] == saved.json()["changed_ms"]
        read = http.get("/api/layouts/climb")
        assert (read.json()["title"], read.json()["widgets"]) == ("Climb", [GAUGE])
        assert read.headers["etag"] == saved.headers["etag"] == f'"{row["changed_ms"]}"'
        assert http.delete("/api/layouts/climb").json() == {"removed": "climb"}
        assert http.get("/api/layouts/climb").status_code == 404
        assert http.delete("/api/layouts/climb").status_code == 404
        assert "climb" not in listed(http)


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../broker",
        "a/../../b",
        "%2e%2e%2fetc%2fpasswd",
        ".hidden",
        "Upper",
        "a" * 65,
        "a.json",
        "nul%00",
        "%ff",
        "<b>",
        "-dash",
        "a%20b",
        "a%0a",
        "%c3%9f",
    ],
)
def test_a_hostile_name_of_a_layout_is_refused_with_a_sentence(
    shared_broker: RunningBroker, name: str
) -> None:
    with client(shared_broker) as http:
        before = own(http)
        for method in ("GET", "PUT", "DELETE"):
            url = httpx.URL(f"{shared_broker.console}/api/layouts/").copy_with(
                raw_path=b"/api/layouts/" + name.encode()
            )
            answer = http.request(method, url, json=CLIMB if method == "PUT" else None)
            assert answer.status_code in (400, 404, 405), (method, answer.status_code, answer.text)
            assert answer.status_code == 400 or ".." in name
        assert own(http) == before


def widget(**changes: Any) -> dict[str, Any]:
    return {"title": "", "widgets": [GAUGE | changes]}


WRONG: list[Any] = [
    None,
    [],
    "text",
    {},
    {"title": "", "widgets": {}},
    {"title": 3, "widgets": []},
    {"title": "a" * 101, "widgets": []},
    {"title": "right to left \u202e", "widgets": []},
    {"title": "line\nline", "widgets": []},
    {"title": "", "widgets": [], "by": "me"},
    {"title": "", "widgets": [GAUGE] * (WIDGETS_MAX + 1)},
    widget(kind="script"),
    widget(kind=None),
    widget(x=-1),
    widget(x=12),
    widget(x=10, w=3),
    widget(x=True),
    widget(x=0.5),
    widget(x="0"),
    widget(x=10**400),
    widget(y=10**9),
    widget(w=0),
    widget(h=41),
    widget(html="<b>"),
    widget(options=[]),
    widget(options={"names": "own/rpm"}),
    widget(options={"names": [3]}),
    widget(options={"names": [""]}),
    widget(options={"names": ["a" * 1_025]}),
    widget(options={"names": ["a"] * 25}),
    widget(options={str(number): 0 for number in range(33)}),
    widget(options={"text": "a" * 20_000}),
    widget(options={"deep": [[[[[]]]]]}),
]
RAW = [
    b"",
    b"{",
    b"\xff",
    b"null",
    b'{"title": "\\ud800", "widgets": []}',
    b'{"title": "", "widgets": [], "title": 3}',
    json.dumps(widget(options={"low": float("nan")})).encode(),
    json.dumps(widget(options={"low": float("inf")})).encode(),
    b'{"title": "", "widgets": ' + b"[" * 100_000,
    b'{"widgets": [{"kind": "gauge", "x": 0, "y": 0, "w": 1, "h": 1, "options": '
    + b'{"a":' * 5_000
    + b"1"
    + b"}" * 5_000
    + b"}]}",
]


@pytest.mark.parametrize("body", [*(json.dumps(one).encode() for one in WRONG), *RAW])
def test_what_is_no_layout_is_refused_with_a_sentence(
    shared_broker: RunningBroker, body: bytes
) -> None:
    with client(shared_broker, **{"content-type": "application/json"}) as http:
        answer = http.put("/api/layouts/wrong", content=body)
        assert answer.status_code == 400, answer.text
        assert "send JSON" in answer.text
        assert len(answer.text) < 1_000
        assert "wrong" not in own(http)


def test_a_layout_that_is_too_large_is_refused_before_it_is_read(
    shared_broker: RunningBroker,
) -> None:
    with client(shared_broker, **{"content-type": "application/json"}) as http:
        answer = http.put("/api/layouts/wide", content=b" " * (LAYOUT_BYTES_MAX + 1))
        assert answer.status_code == 413


def test_every_kind_and_the_largest_layout_are_taken(shared_broker: RunningBroker) -> None:
    kinds = [GAUGE | {"kind": kind, "y": row} for row, kind in enumerate(KINDS)]
    name = "\N{SNOWMAN}" * 341
    full = [GAUGE | {"options": {"names": [name]}, "title": "x" * 100}] * WIDGETS_MAX
    with client(shared_broker) as http:
        for widgets in (kinds, full, []):
            put = http.put("/api/layouts/large", json={"title": "", "widgets": widgets})
            assert put.status_code == 200, put.text
            assert http.get("/api/layouts/large").json()["widgets"] == widgets
        http.delete("/api/layouts/large")


def test_there_is_a_most_of_layouts_and_one_that_is_there_can_still_be_saved(
    tmp_path: Path,
) -> None:
    with broker_in(tmp_path) as broker, client(broker) as http:
        for number in range(LAYOUTS_MAX):
            assert http.put(f"/api/layouts/number-{number}", json=CLIMB).status_code == 200
        refused = http.put("/api/layouts/one-more", json=CLIMB)
        assert (refused.status_code, str(LAYOUTS_MAX) in refused.text) == (400, True)
        assert http.put("/api/layouts/number-7", json=CLIMB).status_code == 200
        assert http.delete("/api/layouts/number-7").status_code == 200
        assert http.put("/api/layouts/one-more", json=CLIMB).status_code == 200
        assert len(own(http)) == LAYOUTS_MAX


def test_who_saves_later_is_told_who_saved_since_and_decides(people: RunningBroker) -> None:
    with logged_in(people.console, "anna") as anna, logged_in(people.console, "otto") as otto:
        first = otto.put("/api/layouts/shared", json=CLIMB, headers={"if-none-match": "*"})
        etag = first.headers["etag"]
        again = anna.put("/api/layouts/shared", json=CLIMB, headers={"if-none-match": "*"})
        assert (again.status_code, again.json()["by"]) == (409, "otto")
        annas = anna.put(
            "/api/layouts/shared", json=CLIMB | {"title": "Anna's"}, headers={"if-match": etag}
        )
        assert annas.status_code == 200
        assert annas.json()["changed_ms"] > first.json()["changed_ms"]
        late = otto.put("/api/layouts/shared", json=CLIMB, headers={"if-match": etag})
        assert late.status_code == 409
        told = late.json()
        assert (told["by"], told["changed_ms"]) == ("anna", annas.json()["changed_ms"])
        assert "anna has saved shared" in told["conflict"]
        assert otto.get("/api/layouts/shared").json()["title"] == "Anna's"
        assert otto.delete("/api/layouts/shared", headers={"if-match": etag}).status_code == 409
        assert otto.put("/api/layouts/shared", json=CLIMB).status_code == 200
        etag = otto.get("/api/layouts/shared").headers["etag"]
        anna.delete("/api/layouts/shared", headers={"if-match": etag})
        gone = otto.put("/api/layouts/shared", json=CLIMB, headers={"if-match": etag})
        assert (gone.status_code, gone.json()["by"]) == (409, None)
        for wrong in ("1", '"x"', 'W/"1"', '"' + "1" * 400 + '"'):
            answer = otto.put("/api/layouts/shared", json=CLIMB, headers={"if-match": wrong})
            assert answer.status_code == 400, wrong


def test_of_many_who_save_at_once_from_one_version_one_succeeds(
    shared_broker: RunningBroker,
) -> None:
    with client(shared_broker) as http:
        etag = http.put("/api/layouts/race", json=CLIMB).headers["etag"]

        def save(number: int) -> int:
            body = CLIMB | {"title": str(number)}
            return http.put("/api/layouts/race", json=body, headers={"if-match": etag}).status_code

        with ThreadPoolExecutor(8) as pool:
            codes = sorted(pool.map(save, range(8)))
        assert codes == [200] + [409] * 7
        http.delete("/api/layouts/race")


def test_only_who_may_watch_reads_and_only_operators_save(people: RunningBroker) -> None:
    with logged_in(people.console, "vera") as vera, logged_in(people.console, "otto") as otto:
        assert vera.put("/api/layouts/mine", json=CLIMB).status_code == 403
        assert "layouts" in otto.get("/api/me").json()["administers"]
        assert otto.put("/api/layouts/mine", json=CLIMB).status_code == 200
        assert vera.get("/api/layouts/mine").json()["by"] == "otto"
        assert vera.delete("/api/layouts/mine").status_code == 403
    with client(people) as nobody:
        assert nobody.get("/api/layouts").status_code == 401
        assert nobody.put("/api/layouts/mine", json=CLIMB).status_code == 401


def test_names_of_parameters_are_told_only_to_who_may_watch_them(people: RunningBroker) -> None:
    secret = GAUGE | {"options": {"names": ["own/rpm", "secret/rpm"], "colour": "secret/rpm"}}
    body = {"title": "Both", "widgets": [secret]}
    with logged_in(people.console, "otto") as otto, logged_in(people.console, "narrow") as narrow:
        assert otto.put("/api/layouts/both", json=body).status_code == 200
        told = narrow.get("/api/layouts/both")
        assert "secret" not in told.text
        assert told.json()["is_narrowed"] is True
        assert told.json()["widgets"][0]["options"] == {"names": ["own/rpm"]}
        assert otto.get("/api/layouts/both").json()["is_narrowed"] is False


def test_who_cannot_see_all_of_a_layout_cannot_replace_it(tmp_path: Path) -> None:
    rule = '[[access.rule]]\nwho = ["role:half"]\nallow = ["administer"]\ntopics = ["layouts"]\n'
    watch = '[[access.rule]]\nwho = ["role:half"]\nallow = ["watch"]\ntopics = ["own/#"]\n'
    both = {"title": "", "widgets": [GAUGE | {"options": {"names": ["own/a", "secret/a"]}}]}
    config = USERS + user("hal", "half") + rule + watch
    with (
        broker_in(tmp_path, config=config) as broker,
        logged_in(broker.console, "otto") as otto,
        logged_in(broker.console, "hal") as hal,
    ):
        assert otto.put("/api/layouts/both", json=both).status_code == 200
        assert hal.put("/api/layouts/both", json=CLIMB).status_code == 403
        assert hal.delete("/api/layouts/both").status_code == 403
        assert hal.put("/api/layouts/probe", json=both).status_code == 403
        assert hal.put("/api/layouts/own", json=CLIMB).status_code == 200
        assert otto.get("/api/layouts/both").json()["widgets"] == both["widgets"]


def test_changes_of_layouts_are_in_the_audit(tmp_path: Path) -> None:
    with broker_in(tmp_path, config=USERS) as broker:
        with logged_in(broker.console, "otto") as otto:
            otto.put("/api/layouts/noted", json=CLIMB)
            otto.delete("/api/layouts/noted")
        for act in ("saved", "removed"):
            found = awaited(broker.data, of_kind("changed", detail=f"{act} the layout noted"))
            assert (found["user"], found["topic"]) == ("otto", "layouts")


def test_layouts_survive_a_restart_and_a_cut_write_leaves_the_old_one(tmp_path: Path) -> None:
    with broker_in(tmp_path) as broker, client(broker) as http:
        etag = http.put("/api/layouts/kept", json=CLIMB).headers["etag"]
        folder = broker.data / "layouts"
        assert (folder.stat().st_mode & 0o777, [one.name for one in folder.iterdir()]) == (
            0o700,
            ["kept.json"],
        )
    (folder / ".kept.json.new").write_bytes(b'{"half')
    with broker_in(tmp_path) as broker, client(broker) as http:
        read = http.get("/api/layouts/kept")
        assert (read.headers["etag"], read.json()["widgets"]) == (etag, [GAUGE])
        assert own(http) == ["kept"]
        assert http.put("/api/layouts/kept", json=CLIMB | {"title": "New"}).status_code == 200
    with broker_in(tmp_path) as broker, client(broker) as http:
        assert listed(http)["kept"]["title"] == "New"


def test_a_damaged_file_or_a_link_does_no_harm_and_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "layouts"
    folder.mkdir(parents=True)
    (tmp_path / "secret.json").write_text('{"title": "secret", "widgets": []}')
    (folder / "cut.json").write_bytes(b'{"slipring": "layout"')
    (folder / "deep.json").write_bytes(b"[" * 100_000)
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "fold.json").mkdir()
    (folder / "No name.json").write_text("{}")
    (folder / "flight.json").write_text("{}")
    with broker_in(tmp_path) as broker, client(broker) as http:
        assert own(http) == ["cut", "deep", "fold", "link"]
        for name in own(http):
            assert listed(http)[name]["trouble"]
            answer = http.get(f"/api/layouts/{name}")
            assert (answer.status_code, "secret" in answer.text) == (400, False), name
        assert http.delete("/api/layouts/cut").status_code == 200
        assert http.delete("/api/layouts/fold").status_code == 400
        assert http.put("/api/layouts/link", json=CLIMB).status_code == 200
        assert (tmp_path / "secret.json").read_text().startswith('{"title": "secret"')


def awaited_names(http: httpx.Client, vehicles: int) -> None:
    """The console reads the names of parameters again at most once a second."""
    until_s = time.monotonic() + PATIENCE_S
    while len(http.get("/api/layouts/fleet").json()["widgets"]) < vehicles:
        assert time.monotonic() < until_s


READY = ("flight", "engine", "fleet", "broker")


def test_ready_made_layouts_are_of_the_parameters_that_there_are(broker: RunningBroker) -> None:
    with client(broker) as http, slipring.sync.connect(broker.url) as bus:
        assert [name for name, one in listed(http).items() if one["is_ready_made"]] == [*READY]
        empty = {name: http.get(f"/api/layouts/{name}").json()["widgets"] for name in READY}
        assert (empty["flight"], empty["engine"], empty["fleet"]) == ([], [], [])
        assert {one["kind"] for one in empty["broker"]} == {"broker", "log"}
        for name, parameter in JET.items():
            prefix, _, last = name.rpartition("/")
            bus.declare(prefix, {last: parameter})
        awaited_names(http, 2)
        made = {name: http.get(f"/api/layouts/{name}").json()["widgets"] for name in READY}
        flight = {(one["kind"], *one["options"]["names"]) for one in made["flight"]}
        assert ("number", "gripen/1/air/altitude") in flight
        assert ("plot", "gripen/2/motion/load_factor") in flight
        assert ("states", "gripen/1/engine/stage") in flight
        engine = {(one["kind"], *one["options"]["names"]) for one in made["engine"]}
        assert ("gauge", "gripen/1/engine/rpm") in engine
        tables = {one["title"]: one["options"]["names"] for one in made["fleet"] if one["kind"] == "table"}
        assert tables["gripen/2"] == ["gripen/2/air/altitude", "gripen/2/motion/load_factor"]
        assert tables["gripen/1"][0] == "gripen/1/engine/stage"
        for widgets in made.values():
            assert all(one["x"] + one["w"] <= 12 for one in widgets)


@pytest.mark.parametrize("name", READY)
def test_ready_made_layouts_cannot_be_changed(shared_broker: RunningBroker, name: str) -> None:
    with client(shared_broker) as http:
        for answer in (
            http.put(f"/api/layouts/{name}", json=CLIMB),
            http.delete(f"/api/layouts/{name}"),
        ):
            assert answer.status_code == 400
            assert "copy it under another name" in answer.text
