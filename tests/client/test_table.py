"""The client's copy of the table: fetched once, then kept up to date."""

import asyncio

import slipring
from slipring import Parameter, TableChange
from slipring.client.changes import Changes
from tests.client.table_broker import TableBroker

F64, TEXT = Parameter("f64"), Parameter("text")
WAIT_S = 60


async def told(changes: Changes[TableChange], event: str, name: str) -> TableChange:
    """The next change like this."""
    async with asyncio.timeout(WAIT_S):
        async for change in changes:
            if change.event == event and name in change.names:
                return change
    raise AssertionError


async def test_definitions_are_there_by_name_and_index(table_url: str) -> None:
    definition = Parameter("f64", unit="1/min", description="speed", range=(0, 20_000), rate_hz=50)
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        declared = await bus.declare("table/seen", {"rpm": definition, "note": TEXT})
        table = await other.table()
        assert table["table/seen/rpm"].parameter == definition
        assert table.indices(declared.topics).tolist() == declared.indices.tolist()
        chosen = {entry.name for entry in table.matching("table/seen/+")}
        assert chosen == set(declared.topics)


async def test_what_happens_to_parameters_is_told(table_url: str) -> None:
    async with slipring.connect(table_url) as other:
        table, changes = await other.table(), await other.table_changes()
        async with slipring.connect(table_url) as bus:
            declared = await bus.declare("table/told", {"a": F64, "b": F64})
            added = await told(changes, "added", "table/told/a")
            assert added.names == declared.topics
            assert "table/told/b" in table
            await bus.declare("table/told", {"a": Parameter("f64", description="new")})
            changed = await told(changes, "changed", "table/told/a")
            assert changed.names == ("table/told/a",)
            assert table["table/told/a"].parameter.description == "new"
            assert changed.revision > added.revision
            declared.write({"a": 1.0})
            await declared.flush()
        stale = await told(changes, "stale", "table/told/a")
        assert stale.why == "publisher-gone"
        async with slipring.connect(table_url) as bus:
            again = await bus.declare("table/told", {"a": F64, "b": F64})
            again.write({"a": 1.0})
            await told(changes, "fresh", "table/told/a")
            await again.remove()
            removed = await told(changes, "removed", "table/told/a")
            assert removed.names == declared.topics
            assert "table/told/a" not in table


async def test_more_than_one_page_is_fetched(table_url: str) -> None:
    asked = {f"p{number}": F64 for number in range(2_500)}
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        declared = await bus.declare("table/pages", asked)
        table = await other.table()
        assert table.indices(declared.topics).tolist() == declared.indices.tolist()


async def test_a_selection_fetches_only_what_it_chose(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        await bus.declare("table/part", {"a": F64, "b": F64})
        await bus.declare("table/rest", {"c": F64})
        async with other.select("table/part/#"):
            table = other._table_desk().mirror.table
            assert sorted(table) == ["table/part/a", "table/part/b"]
            assert "table/rest/c" in await other.table()


async def test_another_table_at_the_same_address_replaces_it(
    broker_of_its_own: TableBroker,
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus:
        declared = await bus.declare("table/one", {"a": F64})
        async with slipring.connect(broker_of_its_own.url) as other:
            await other.declare("table/gone", {"b": F64})
        table, changes = await bus.table(), await bus.table_changes()
        assert "table/gone/b" in table
        broker_of_its_own.restart(empty=True)
        async with asyncio.timeout(WAIT_S):
            async for change in changes:
                if change.event == "replaced":
                    break
        new = await bus.table()
        assert new.identity != table.identity
        assert list(new) == list(declared.topics)
