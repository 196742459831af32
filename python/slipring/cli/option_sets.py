"""Dataclasses of options: a command gets options that belong together as one value."""

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, get_type_hints

Command = Callable[..., None]


def option_sets(
    sets: dict[str, Any], without: Collection[str] = ()
) -> Callable[[Command], Command]:
    """Add the options of dataclasses to a command, which gets each dataclass as one value.

    `without` names fields that are not options of this command and keep their defaults.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command).parameters.values()
        options = {name: _options(options_class, without) for name, options_class in sets.items()}

        @functools.wraps(command)
        def run(**given: Any) -> None:
            made = {
                name: sets[name](**{one.name: given.pop(one.name) for one in some})
                for name, some in options.items()
            }
            command(**given, **made)

        shared = [one for some in options.values() for one in some]
        parameters = [one for one in own if one.name not in sets] + shared
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _options(options_class: Any, without: Collection[str]) -> list[inspect.Parameter]:
    hints = get_type_hints(options_class, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(options_class)
        if field.name not in without
    ]
