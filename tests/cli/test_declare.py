"""`slipring declare`: what a file says is then in the broker's table."""

import asyncio
import subprocess
import sys

import slipring
from slipring.dictionary import load
from tests.dictionary.conftest import DATA, Written


async def declare(*arguments: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipring", "declare", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_every_parameter_of_a_file_is_in_the_table_as_the_file_says(table_url: str) -> None:
    for file, prefix in (("engine.csv", "jet/1/engine"), ("powertrain.dbc", "truck/12")):
        path = DATA / file
        code, out, err = await declare(str(path), "--prefix", prefix, "--url", table_url)
        parameters = load(path)
        assert (code, out) == (0, f"declared {len(parameters)} parameters under {prefix}\n"), err
        async with slipring.connect(table_url) as bus:
            table = await bus.table()
        found = {entry.name: entry.parameter for entry in table.matching(f"{prefix}/#")}
        assert found == {f"{prefix}/{name}": one for name, one in parameters.items()}


async def test_another_unit_is_refused_with_both_definitions(
    table_url: str, written: Written
) -> None:
    first = written("first.csv", "name,type,unit\nspeed,f64,m/s\n")
    assert (await declare(str(first), "--prefix", "clash", "--url", table_url))[0] == 0
    second = written("second.csv", "name,type,unit\nspeed,f64,km/h\n")
    code, out, err = await declare(str(second), "--prefix", "clash", "--url", table_url)
    assert (code, out) == (1, "")
    first_line, last_line = err.splitlines()
    assert (
        first_line == f"{second}:2: error: speed: the broker has it as f64 in m/s, not f64 in km/h"
    )
    assert "nothing was declared" in last_line


async def test_of_a_file_that_clashes_nothing_is_declared_however_large_it_is(
    table_url: str, written: Written
) -> None:
    first = written("first.csv", "name,type\nlast,text\n")
    assert (await declare(str(first), "--prefix", "large", "--url", table_url))[0] == 0
    words = "d" * 900
    rows = "".join(f"p{number},u8,{words}\n" for number in range(1_000))
    second = written("second.csv", f"name,type,description\n{rows}last,f64,\n")
    code, _, err = await declare(str(second), "--prefix", "large", "--url", table_url)
    assert code == 1
    assert f"{second}:1002: error: last: the broker has it as text, not f64" in err
    async with slipring.connect(table_url) as bus:
        assert [entry.name for entry in (await bus.table()).matching("large/#")] == ["large/last"]
