"""The table (T13): every path, by every kind of proof, over every transport, with the right given,
missing and taken back. Each cell is a test on a real broker.
"""

import pytest

from tests.access.further_paths import FURTHER
from tests.access.paths import PATHS, AccessPath
from tests.access.proofs import PROOFS, Proof
from tests.access.world import Rule, World, cell_of
from tests.hostile.transports import Transport

CELLS = [
    pytest.param(path, proof, transport, id=f"{path.name}-{proof.name}-{transport.name}")
    for path in (*PATHS, *FURTHER)
    for proof in PROOFS
    for transport in proof.transports
]


def rule_for(path: AccessPath, proof: Proof, base: str) -> Rule:
    topics = tuple(topic.format(base=base) for topic in path.topics)
    return Rule(proof.who, path.rights, topics)


@pytest.mark.parametrize(("path", "proof", "transport"), CELLS)
def test_what_nobody_allowed_does_not_work(
    world: World, path: AccessPath, proof: Proof, transport: Transport
) -> None:
    world.allow()
    with cell_of(world, proof, transport, path.version) as cell:
        assert not (path.begin(cell) and path.use(cell))


@pytest.mark.parametrize(("path", "proof", "transport"), CELLS)
def test_what_is_allowed_works_until_it_is_taken_back(
    world: World, path: AccessPath, proof: Proof, transport: Transport
) -> None:
    with cell_of(world, proof, transport, path.version) as cell:
        world.allow(rule_for(path, proof, cell.base))
        assert path.begin(cell)
        assert path.use(cell)
        assert path.begin(cell)
        world.allow()
        assert not path.use(cell)
