"""`slipring.sync` has each call that the client has, with the same parameters."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import slipring
from slipring import sync
from slipring.client.losses import Losses
from slipring.client.notices import Notices

PAIRS: dict[type, type] = {
    slipring.Bus: sync.Bus,
    slipring.Chunks: sync.Chunks,
    slipring.Clock: sync.Clock,
    slipring.Declared: sync.Declared,
    Losses: sync.Losses,
    Notices: sync.Notices,
    slipring.Publisher: sync.Publisher,
    slipring.Selection: sync.Selection,
    slipring.Service: sync.Service,
    slipring.StreamWriter: sync.StreamWriter,
    slipring.Subscription: sync.Subscription,
}
INTERNAL = {
    "Declared.declare",  # again on each connection, by the client itself
    "Declared.finish",  # when the bus closes
    "Declared.set_skew",  # by the measurements of the clock
    "Service.set",  # wakes it when there are requests
    "StreamWriter.declare",
    "Subscription.fetch_frames",  # by selections
}
"""What the rooms of the client call of each other."""
FUNCTIONS = ("connect", "discover")


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def parameters(call: Callable[..., Any]) -> list[tuple[str, object, object]]:
    found = inspect.signature(call).parameters.values()
    return [(one.name, one.kind, one.default) for one in found]


def calls() -> list[tuple[type, str]]:
    return [
        (kind, name)
        for kind in PAIRS
        for name in sorted(public(kind))
        if f"{kind.__name__}.{name}" not in INTERNAL
    ]


def test_each_class_of_the_client_that_does_something_has_a_twin() -> None:
    """Whatever a bus gives that is entered, awaited or iterated over."""
    acting = {
        kind
        for kind in (getattr(slipring, name) for name in slipring.__all__)
        if isinstance(kind, type)
        and any(
            inspect.iscoroutinefunction(one) or name in ("__aenter__", "__aiter__", "__anext__")
            for name, one in vars(kind).items()
        )
    }
    # A request is answered in a thread as a ThreadRequest; parts come as an iterator.
    assert acting - set(PAIRS) == {slipring.Request, slipring.Parts}
    assert {kind.__name__ for kind in PAIRS.values()} <= set(sync.__all__)


@pytest.mark.parametrize(
    ("kind", "name"), calls(), ids=lambda one: one if isinstance(one, str) else one.__name__
)
def test_a_call_of_the_client_is_there_too_with_its_parameters(kind: type, name: str) -> None:
    assert name in public(PAIRS[kind]), f"slipring.sync.{kind.__name__} lacks {name}"
    own, of_client = getattr(PAIRS[kind], name), getattr(kind, name)
    if callable(of_client):
        assert parameters(own) == parameters(of_client)
        assert not inspect.iscoroutinefunction(inspect.getattr_static(PAIRS[kind], name))
    else:
        assert isinstance(own, property)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_opens_and_finds_takes_the_same_options(name: str) -> None:
    assert parameters(getattr(sync, name)) == parameters(getattr(slipring, name))


def test_every_exception_to_the_rule_is_needed() -> None:
    assert {
        f"{kind.__name__}.{name}"
        for kind, twin in PAIRS.items()
        for name in public(kind) - public(twin)
    } == INTERNAL


def test_the_number_of_a_stream_is_the_clients_own_one() -> None:
    """Another broker may give another number when the stream is declared again."""
    inner: Any = type("Writer", (), {"name": "a", "index": 1})()
    writer = sync.StreamWriter(inner)
    inner.index = 2
    assert writer.index == 2
