"""mDNS on the loopback interface: what a broker tells is what others read."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from zeroconf import RecordUpdateListener, ServiceInfo, ServiceStateChange
from zeroconf._dns import DNSPointer, DNSQuestion
from zeroconf._protocol.outgoing import DNSOutgoing
from zeroconf.asyncio import AsyncServiceBrowser
from zeroconf.const import _CLASS_IN, _FLAGS_QR_QUERY, _TYPE_PTR

from slipring.control.discovery import Discovery, DiscoverySection
from slipring.discovery.announcement import Announcement
from slipring.discovery.endpoint import Endpoint
from slipring.discovery.found import FoundBroker, merged
from slipring.discovery.mdns import TYPES, Advertisement, browse, open_zeroconf, read, services
from tests.discovery.brokers import CONSOLE, HERE, LOCAL, MQTT, SECURE, TOLD

LOOPBACK = ["127.0.0.1"]
WAIT_S = 60


async def search(until: int = 1, *, own: str = TOLD.id) -> list[FoundBroker]:
    """Looks until as many services of a broker are found; others may be on the network too."""
    async with asyncio.timeout(WAIT_S):
        while True:
            found = [one for one in await browse(1.5, LOOPBACK) if one.id == own]
            if len(found) >= until:
                return found


async def test_what_a_broker_tells_is_found() -> None:
    told = replace(TOLD, console=Endpoint("console", "http", None, 8080))
    async with Advertisement(services(told, LOOPBACK), LOOPBACK):
        plain, secure = await search(2)
    assert plain == FoundBroker(
        "ground",
        ("mqtt://127.0.0.1:1883",),
        TOLD.id,
        "0.1.0",
        None,
        7,
        "http://127.0.0.1:8080",
        ("mdns",),
    )
    assert secure.urls == ("mqtts://10.0.0.7:8883",)


async def test_listeners_for_websocket_are_told_with_the_path_to_ask_for() -> None:
    web = (Endpoint("web", "ws", None, 9001), Endpoint("browsers", "wss", "10.0.0.7", 9443))
    told = services(replace(TOLD, endpoints=web), LOOPBACK)
    assert [info.type for info in told] == ["_mqtt-ws._tcp.local.", "_mqtt-wss._tcp.local."]
    assert [info.decoded_properties["path"] for info in told] == ["/mqtt", "/mqtt"]
    async with Advertisement(told, LOOPBACK):
        plain, secure = await search(2)
    assert plain.urls == ("ws://127.0.0.1:9001/mqtt",)
    assert secure.urls == ("wss://10.0.0.7:9443/mqtt",)


@pytest.mark.parametrize(
    ("path", "asked"),
    [("/ws", "/ws"), ("ws", "/mqtt"), ("/a b", "/mqtt"), ("/a\r\nX: y", "/mqtt"), (None, "/mqtt")],
)
def test_the_path_of_another_makers_websocket_is_taken_if_it_is_one(
    path: str | None, asked: str
) -> None:
    kind = TYPES["ws"]
    properties = {} if path is None else {"path": path}
    info = ServiceInfo(
        kind, f"lab.{kind}", port=9001, parsed_addresses=["10.0.0.5"], properties=properties
    )
    found = read(info)
    assert found
    assert found.urls == (f"ws://10.0.0.5:9001{asked}",)


async def test_brokers_of_the_same_name_are_two() -> None:
    twin = replace(TOLD, id=uuid4().hex, endpoints=(Endpoint("mqtt", "mqtt", None, 1999),))
    async with (
        Advertisement(services(TOLD, LOOPBACK), LOOPBACK),
        Advertisement(services(twin, LOOPBACK), LOOPBACK),
    ):
        assert (await search(2))[0].url == "mqtt://127.0.0.1:1883"
        assert (await search(own=twin.id))[0].url == "mqtt://127.0.0.1:1999"


async def test_those_who_follow_are_told_of_the_end() -> None:
    told = services(replace(TOLD, endpoints=(MQTT,)), LOOPBACK)
    heard: asyncio.Queue[str] = asyncio.Queue()

    def follow(name: str, state_change: ServiceStateChange, **_: object) -> None:
        if name == told[0].name:
            heard.put_nowait(state_change.name)

    looking = open_zeroconf(LOOPBACK)
    browser = AsyncServiceBrowser(looking.zeroconf, [TYPES["mqtt"]], handlers=[follow])
    async with asyncio.timeout(WAIT_S):
        async with Advertisement(told, LOOPBACK):
            assert await heard.get() == "Added"
        while await heard.get() != "Removed":
            pass
    await browser.async_cancel()
    await looking.async_close()


async def test_the_subtype_names_the_service() -> None:
    kind = "_slipring._sub._mqtt._tcp.local."
    heard: asyncio.Queue[DNSPointer] = asyncio.Queue()

    class Listening(RecordUpdateListener):
        def async_update_records(self, _zeroconf: Any, _now: float, records: Any) -> None:
            for record in records:
                if isinstance(record.new, DNSPointer) and record.new.name == kind:
                    heard.put_nowait(record.new)

    question = DNSOutgoing(_FLAGS_QR_QUERY)
    question.add_question(DNSQuestion(kind, _TYPE_PTR, _CLASS_IN))
    told = services(replace(TOLD, endpoints=(MQTT,)), LOOPBACK)
    async with Advertisement(told, LOOPBACK), asyncio.timeout(WAIT_S):
        looking = open_zeroconf(LOOPBACK)
        await looking.zeroconf.async_wait_for_start()
        looking.zeroconf.async_add_listener(Listening(), None)
        looking.zeroconf.async_send(question)
        while (await heard.get()).alias != told[0].name:
            pass
        await looking.async_close()


def test_what_only_this_machine_can_reach_is_not_told() -> None:
    assert services(replace(TOLD, endpoints=(HERE, LOCAL)), LOOPBACK) == []
    [info] = services(replace(TOLD, endpoints=(HERE, SECURE, LOCAL), console=CONSOLE), LOOPBACK)
    assert info.port == SECURE.port
    assert "console" not in info.decoded_properties


@pytest.mark.parametrize(
    ("listen", "addresses"),
    [
        ("0.0.0.0", ["10.0.0.7"]),
        ("::", ["10.0.0.7", "fd00::7"]),
        ("10.0.0.8", ["10.0.0.8"]),
    ],
)
def test_a_service_has_the_addresses_that_lead_to_it(listen: str, addresses: list[str]) -> None:
    told = replace(TOLD, endpoints=(Endpoint("mqtt", "mqtt", listen, 1883),))
    [info] = services(told, ["10.0.0.7", "fd00::7"])
    assert info.parsed_addresses() == addresses


@pytest.mark.parametrize("name", ["a.b.local.", "\n\x00", "ö" * 64, "[x] _mqtt._tcp", " "])
def test_any_name_of_a_broker_can_be_told(name: str) -> None:
    endpoints = (replace(MQTT, name="n" * 32),)
    [info] = services(replace(TOLD, name=name, endpoints=endpoints), LOOPBACK)
    found = read(info)
    assert found
    assert name.startswith(found.name)
    assert found.id == TOLD.id


def other(**properties: Any) -> ServiceInfo:
    kind = TYPES["mqtt"]
    return ServiceInfo(kind, f"lab.{kind}", port=1883, parsed_addresses=["10.0.0.5"], **properties)


def test_a_broker_of_another_maker_is_found_too() -> None:
    assert read(other()) == FoundBroker("lab", ("mqtt://10.0.0.5:1883",), found_by=("mdns",))


@pytest.mark.parametrize(
    "properties",
    [
        {"table": "1" * 99, "console": "javascript:alert(1)"},
        {"table": "-1", "console": ":x"},
        {b"table": b"\xff", b"console": b"\xff\xfe"},
        {"name": None, "console": None},
    ],
)
def test_wrong_texts_of_a_service_are_left_out(properties: dict[Any, Any]) -> None:
    found = read(other(properties=properties))
    assert found
    assert (found.name, found.table, found.console) == ("lab", None, None)


def test_a_service_without_a_usable_address_is_none() -> None:
    kind = TYPES["mqtt"]
    for addresses in ([], ["fe80::1"]):
        info = ServiceInfo(kind, f"lab.{kind}", port=1883, parsed_addresses=addresses)
        assert read(info) is None


def test_a_broker_found_both_ways_is_one() -> None:
    by_mdns = FoundBroker("ground", ("mqtt://10.0.0.7:1883",), "d3", found_by=("mdns",))
    near = ("unix:/s", "ws://127.0.0.1:9001/mqtt", "mqtt://10.0.0.7:1883", "mqtt://127.0.0.1:1883")
    by_udp = FoundBroker("ground", near, "d3", "0.1", 5.0, found_by=("udp",))
    [one] = merged([by_mdns, by_udp])
    tcp = ("mqtt://127.0.0.1:1883", "mqtt://10.0.0.7:1883")
    assert one.urls == (*tcp, "ws://127.0.0.1:9001/mqtt", "unix:/s")
    assert (one.version, one.uptime_s, one.found_by) == ("0.1", 5.0, ("mdns", "udp"))
    assert one.url == "mqtt://127.0.0.1:1883"


async def test_the_control_plane_tells_of_a_public_broker_until_it_ends() -> None:
    discovery = Discovery(DiscoverySection(port=0), lambda: TOLD, LOOPBACK)
    await discovery.open()
    try:
        await search()
    finally:
        await discovery.close()
    assert [one for one in await browse(0.5, LOOPBACK) if one.id == TOLD.id] == []


@pytest.mark.parametrize(
    ("section", "endpoints"),
    [(DiscoverySection(port=0, mdns=False), (MQTT,)), (DiscoverySection(port=0), (HERE, LOCAL))],
    ids=["switched off", "only loopback"],
)
async def test_nothing_is_told_where_it_is_not_wanted(
    section: DiscoverySection, endpoints: tuple[Endpoint, ...]
) -> None:
    told: Announcement = replace(TOLD, endpoints=endpoints)
    discovery = Discovery(section, lambda: told, LOOPBACK)
    await discovery.open()
    found = await browse(0.7, LOOPBACK)
    await discovery.close()
    assert [one for one in found if one.id == TOLD.id] == []
