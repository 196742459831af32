"""The lines of docs/authentication.md and docs/tokens.md, for a broker with users here."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.page_shell import page_blocks, page_lines
from tests.page_operator import PATIENCE_S, Operator
from tests.running_broker import kept_address

NO_CONSOLE = '\n[console]\nlisten = "off"\n'


class GroundCrew(Operator):
    """Somebody at the broker's own machine: `broker.example` is here."""

    def local(self, text: str) -> str:
        return super().local(text.replace("-h broker.example", "-h 127.0.0.1 -p 1883"))

    def hear(self, listening: str, telling: str) -> str:
        """What a subscriber hears first; the publisher is started until there is something."""
        with subprocess.Popen(
            ["bash", "-c", f"exec {self.local(listening)} -C 1"],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True,
        ) as subscriber:  # fmt: skip
            while subscriber.poll() is None:
                self.run(telling)
            out, _ = subscriber.communicate(timeout=PATIENCE_S)
        assert subscriber.returncode == 0
        return out


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[GroundCrew]:
    with ExitStack() as stack:
        port = stack.enter_context(kept_address()).rpartition(":")[2]
        yield GroundCrew(tmp_path, {"1883": port}, stack)


def test_users_connect_as_the_page_about_authentication_says(crew: GroundCrew) -> None:
    config = page_blocks("docs/authentication.md", "toml")[0] + NO_CONSOLE
    (crew.folder / "broker.toml").write_text(crew.local(config))
    password, check, serve, listening, telling = page_lines("docs/authentication.md")
    crew.run(f"printf 'pencil\\n' | {password}")
    crew.run(check)
    crew.start(serve)
    assert crew.hear(listening, telling) == "gripen/39-7/engine/rpm 12034.5\n"


def test_a_token_lets_its_user_in_as_the_page_about_tokens_says(crew: GroundCrew) -> None:
    listen = '\n[mqtt]\nlisten = "127.0.0.1:1883"\n'
    config = page_blocks("docs/tokens.md", "toml")[0] + listen + NO_CONSOLE
    (crew.folder / "broker.toml").write_text(crew.local(config))
    issue, show, listening = page_lines("docs/tokens.md")
    crew.run(issue)
    crew.start("slipring serve --config broker.toml")
    crew.run(show)
    telling = listening.replace("mosquitto_sub", "mosquitto_pub").replace(
        "-t 'gripen/#' -v", "-t gripen/a -m here"
    )
    assert crew.hear(listening, telling) == "gripen/a here\n"
