"""`slipring config import`: reads Mosquitto's files, prints ours, and says what was left out."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from slipring.control.config import Config
from slipring.control.mistakes import explain
from slipring.control.mosquitto_config import MosquittoFiles, imported_config
from slipring.control.mosquitto_settings import MosquittoLine, lines_of
from slipring.errors import ConfigError

INCLUDE = "include_dir"
DEPTH_MAX = 10


def run_import(file: Path) -> None:
    """Print the config; the exit code is 0 also if some lines were not taken over."""
    lines = list(_lines(file, DEPTH_MAX))
    texts, notes = MosquittoFiles(*_texts(lines, "password_file"), *_texts(lines, "acl_file")), []
    found = imported_config(lines, texts)
    try:
        Config.model_validate(tomllib.loads(found.toml))
    except ValidationError as error:
        notes = [f"the broker would refuse this config: {explain(error, Config)}"]
    print(f"# From {file}.\n{found.toml}", end="")
    for note in [*found.notes, *notes]:
        print(note, file=sys.stderr)


def _lines(file: Path, depth: int) -> Iterator[MosquittoLine]:
    """The lines of a file, with those of the folders that it includes in their places."""
    if not depth:
        raise ConfigError(
            f"{file}: folders include each other; Mosquitto reads at most {DEPTH_MAX}"
        )
    for line in lines_of(str(file), file.read_text(errors="replace")):
        if line.word != INCLUDE:
            yield line
        elif not (folder := _beside(file, line.value)).is_dir():
            print(f"{line.place}: {INCLUDE}: there is no folder {folder}", file=sys.stderr)
        else:
            for one in sorted(folder.glob("*.conf")):
                yield from _lines(one, depth - 1)


def _texts(lines: list[MosquittoLine], word: str) -> Iterator[str | None]:
    """The files that a word names, one after the other; None if one cannot be read."""
    named = [line for line in lines if line.word == word]
    try:
        texts = [_beside(Path(line.place), line.value).read_text("utf-8") for line in named]
        yield "\n".join(texts)
    except (OSError, UnicodeDecodeError) as error:
        yield None
        print(f"{named[0].place}: {word}: cannot be read: {error}", file=sys.stderr)


def _beside(file: Path, path: str) -> Path:
    """Mosquitto looks from where it was started; what is not there is looked for at its file."""
    return Path(path) if Path(path).exists() else file.parent / path
