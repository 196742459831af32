"""What the audit has of requests to the console: who read what by which right, and who was refused.

Repetitions are counted by the engine. Changes are recorded where they are made.
"""

from starlette.types import Scope

from slipring.console.authenticator import Authenticator, Proof, Refusal
from slipring.console.needs import READS, right_to_read
from slipring.control.audit import ActedBy

ADDRESS = "slipring.address"
"""The key of a request's scope with the address of who asks."""
SCRAPED = ("/metrics",)
"""Read all the time by programs: who may is a matter of rights, and each time would be a record."""
SLOWED, WRONG = 429, 401


class RequestAudit:
    """Records requests."""

    def __init__(self, authenticator: Authenticator) -> None:
        """Record for the broker of this authenticator."""
        self._authenticator = authenticator

    def begin(self, scope: Scope) -> None:
        """Note where a request comes from, behind a proxy too."""
        peer = scope.get("client")
        address = self._authenticator.address_of(scope)
        is_direct = peer is not None and address == str(peer[0])
        host = f"[{address}]" if ":" in address else address
        scope[ADDRESS] = f"{host}:{peer[1]}" if is_direct and peer is not None else address

    def unproved(self, refusal: Refusal, scope: Scope) -> None:
        """Record a token that was refused; a wrong password has its record already."""
        if refusal.status == WRONG and _sends_token(scope):
            self._authenticator.broker.audit(
                "login",
                address=scope[ADDRESS],
                topic=scope["path"],
                outcome="refused",
                detail=refusal.text.strip(),
            )

    def slowed(self, scope: Scope) -> None:
        """Record that an address, or a name from it, has to wait before its next attempt."""
        self._authenticator.broker.audit(
            "quota",
            address=scope[ADDRESS],
            topic="console.attempts",
            outcome="limited",
            detail="too many wrong passwords or tokens",
        )

    def denied(self, proof: Proof, refusal: Refusal, scope: Scope) -> None:
        """Record that a request was refused for lack of a right, of a login or of a proof."""
        self._authenticator.broker.audit(
            "denied",
            **acted_by(scope, proof),
            topic=scope["path"],
            outcome="refused",
            detail=f"{scope.get('method', 'WebSocket')}: {refusal.text.strip()}",
        )

    def foreign(self, why: str, scope: Scope) -> None:
        """Record a request of a page of another origin, or one that nobody can understand."""
        self._authenticator.broker.audit(
            "denied",
            address=scope[ADDRESS],
            topic=scope["path"],
            outcome="refused",
            detail=why.strip(),
        )

    def allowed(self, proof: Proof, scope: Scope) -> None:
        """Record who reads what; open pages once, when they are opened."""
        path = scope["path"]
        is_read = scope.get("method", "GET") in READS and path not in SCRAPED
        right = right_to_read(path) if is_read and proof.visitor.is_restricted else None
        if right is not None:
            by: ActedBy = {**acted_by(scope, proof), "right": right}
            self._authenticator.broker.audit("read", **by, topic=path)


def acted_by(scope: Scope, proof: Proof | None) -> ActedBy:
    """Who asks, from where, and how they proved it."""
    if proof is None or proof.visitor.name is None:
        return {"address": scope.get(ADDRESS, "")}
    how = "login" if proof.login else "token" if proof.token else "password"
    return {"user": proof.visitor.name, "address": scope.get(ADDRESS, ""), "proof": how}


def _sends_token(scope: Scope) -> bool:
    sent = [value for name, value in scope["headers"] if name == b"authorization"]
    return any(value[:7].lower() == b"bearer " for value in sent)
