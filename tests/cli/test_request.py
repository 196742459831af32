"""`slipring request` and `slipring answer`, as a person runs them."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import slipring
from slipring.cli import answering_command
from tests.cli.commands import SLIPRING, run
from tests.running_broker import PATIENCE_S, RunningBroker


@asynccontextmanager
async def answering(url: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`slipring answer`, once it serves."""
    process = await asyncio.create_subprocess_exec(
        SLIPRING, "answer", "--url", url, *arguments, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    assert b"answering requests to" in await process.stderr.readline()
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def ask(broker: RunningBroker, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    code, out, err = await run("request", "--url", broker.url, *arguments, stdin=stdin)
    return code, out.decode(), err.decode()


async def test_a_commands_output_is_the_answer(shared_broker: RunningBroker) -> None:
    async with answering(shared_broker.url, "cli/upper", "--", "tr", "a-z", "A-Z"):
        assert await ask(shared_broker, "cli/upper", "hello you") == (0, "HELLO YOU\n", "")
        asked = await ask(shared_broker, "--raw", "cli/upper", "-", stdin=b"from a pipe")
        assert asked == (0, "FROM A PIPE", "")


async def test_the_command_knows_the_topic_and_may_leave_its_input(
    shared_broker: RunningBroker, tmp_path: Path
) -> None:
    file = tmp_path / "large"
    file.write_bytes(bytes(1 << 20))
    command = ("--", "sh", "-c", "echo $SLIPRING_TOPIC")
    async with answering(shared_broker.url, "cli/topic/#", *command):
        asked = await ask(shared_broker, "cli/topic/a", "--file", str(file))
        assert asked == (0, "cli/topic/a\n", "")


async def test_an_exit_code_is_a_failure_with_the_commands_words(
    shared_broker: RunningBroker,
) -> None:
    command = ("--", "sh", "-c", "echo no fuel >&2; exit $(cat)")
    async with answering(shared_broker.url, "--concurrency", "2", "cli/fail", *command):
        failed = "slipring: the request to 'cli/fail' failed: "
        assert await ask(shared_broker, "cli/fail", "4") == (3, "", f"{failed}no fuel\n")
        assert (await ask(shared_broker, "cli/fail", "0"))[0] == 0


async def test_each_line_is_a_part(shared_broker: RunningBroker) -> None:
    command = ("--", "sh", "-c", "echo one; echo two; printf three")
    async with answering(shared_broker.url, "--lines", "cli/lines", *command):
        assert await ask(shared_broker, "--parts", "cli/lines") == (0, "one\ntwo\nthree\n", "")
        assert await ask(shared_broker, "cli/lines") == (0, "\n", "")


async def test_the_exit_code_says_how_a_request_ended(shared_broker: RunningBroker) -> None:
    code, out, err = await ask(shared_broker, "cli/nobody")
    assert (code, out) == (5, "")
    told = "was not delivered: there is no service; --wait waits for one"
    assert err == f"slipring: the request to 'cli/nobody' {told}\n"
    assert (await ask(shared_broker, "--wait", "--timeout", "0.1", "cli/nobody"))[0] == 4
    assert (await ask(shared_broker, "--timeout", "1e9", "cli/nobody"))[0] == 8


async def gone(pids: str) -> None:
    """Returns when these processes have ended."""
    for pid in map(int, pids.split()):
        try:
            ended = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        readable = asyncio.Event()
        asyncio.get_running_loop().add_reader(ended, readable.set)
        async with asyncio.timeout(PATIENCE_S):
            await readable.wait()
        asyncio.get_running_loop().remove_reader(ended)
        os.close(ended)


LASTING = ("--", "sh", "-c", "sleep 1000 & echo $$ $!; wait")
STUBBORN = ("--", "sh", "-c", "trap '' TERM; sleep 1000 & echo $$ $!; wait")
CHILD = "trap '' TERM; echo $PPID $$; exec sleep 1000 >/dev/null 2>&1"
STUBBORN_CHILD = ("--", "sh", "-c", f'sh -c "{CHILD}" & wait'.replace("$", r"\$"))


@pytest.mark.parametrize("by", ["time-out", "Ctrl-C", "the end of the service"])
async def test_a_request_that_has_ended_kills_the_command_and_all_it_started(
    shared_broker: RunningBroker, by: str
) -> None:
    topic, timeout = f"cli/kill/{len(by)}", "2" if by == "time-out" else "1000"
    async with answering(shared_broker.url, "--lines", topic, *LASTING) as service:
        process = await asyncio.create_subprocess_exec(
            *(SLIPRING, "request", "--url", shared_broker.url, "--timeout", timeout),
            *("--parts", topic),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        pids = (await process.stdout.readline()).decode()
        assert len(pids.split()) == 2
        if by == "Ctrl-C":
            process.send_signal(signal.SIGINT)
        elif by != "time-out":
            service.terminate()
        _, err = await process.communicate()
        assert process.returncode == {"time-out": 4, "Ctrl-C": 130}.get(by, 3), err
        await gone(pids)


@pytest.mark.parametrize("command", [STUBBORN, STUBBORN_CHILD], ids=["command", "child"])
async def test_a_command_that_ignores_sigterm_is_killed(
    shared_broker: RunningBroker, command: tuple[str, ...]
) -> None:
    async with (
        answering(shared_broker.url, "--lines", "cli/stubborn", *command),
        slipring.connect(shared_broker.url) as bus,
    ):
        parts = bus.ask_parts("cli/stubborn", wait=True)
        pids = (await anext(parts)).text
        parts.close()
        await gone(pids)


async def test_a_second_cancel_kills_the_command_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ending, written = asyncio.Event(), asyncio.get_running_loop().create_future()
    wait_for_group = answering_command._wait_for_group

    async def noted(process: asyncio.subprocess.Process) -> None:
        ending.set()
        await wait_for_group(process)

    async def write(_request: slipring.Request, part: slipring.Answer) -> None:
        written.set_result(part.text)

    monkeypatch.setattr(answering_command, "END_S", 10 * PATIENCE_S)
    monkeypatch.setattr(answering_command, "_wait_for_group", noted)
    request = slipring.Request(slipring.Message("a", b""), write, asyncio.get_running_loop().time)
    command = answering_command.AnsweringCommand(STUBBORN[1:], by_line=True)
    answering_it = asyncio.create_task(command.answer(request))
    pids = await written
    answering_it.cancel()
    await ending.wait()
    answering_it.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering_it
    await gone(pids)


async def test_no_more_commands_run_at_once_than_it_was_told(
    shared_broker: RunningBroker, tmp_path: Path
) -> None:
    command = ("--", "sh", "-c", f"mkdir {tmp_path}/$$; ls {tmp_path} | wc -l; rmdir {tmp_path}/$$")
    async with (
        answering(shared_broker.url, "--concurrency", "2", "cli/two", *command),
        slipring.connect(shared_broker.url) as bus,
    ):
        ends = await bus.request_many([("cli/two", number) for number in range(20)])
        counts = {int(end.text) for end in ends if isinstance(end, slipring.Answer)}
        assert len(ends) == 20
        assert counts <= {1, 2}


async def test_a_value_and_a_file_are_refused_together(tmp_path: Path) -> None:
    file = tmp_path / "payload"
    file.write_bytes(b"in the file")
    code, _, err = await run("request", "a", "a value", "--file", str(file))
    assert code == 2
    assert b"there are an argument and --file" in err


async def test_a_command_that_is_not_there_is_refused_at_once() -> None:
    code, _, err = await run("answer", "a", "--", "no-such-command-anywhere")
    assert code == 2
    assert b"no-such-command-anywhere" in err
