"""Options that several commands share, or that belong together, as one value of a dataclass."""

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, get_type_hints

Command = Callable[..., None]


def grouped(groups: dict[str, Any], without: Collection[str] = ()) -> Callable[[Command], Command]:
    """A command with the options of dataclasses behind its own; it gets each as one value.

    `without` names fields that are no options of this command and keep their defaults.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command).parameters.values()
        options = {name: _options(group, without) for name, group in groups.items()}

        @functools.wraps(command)
        def run(**given: Any) -> None:
            made = {
                name: groups[name](**{one.name: given.pop(one.name) for one in some})
                for name, some in options.items()
            }
            command(**given, **made)

        shared = [one for some in options.values() for one in some]
        parameters = [one for one in own if one.name not in groups] + shared
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _options(group: Any, without: Collection[str]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
        if field.name not in without
    ]
