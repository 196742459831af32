"""From drafts to parameters: a draft that breaks a rule is reported and left out."""

from slipring.dictionary import rules
from slipring.dictionary.draft import Draft
from slipring.dictionary.problem import Findings, Severity
from slipring.model import AlarmLimits, Parameter

DESCRIPTION_BYTES_MAX = 1_000


class Checker:
    """Collects the parameters of one file that have no error."""

    def __init__(self, findings: Findings) -> None:
        """Report problems to the findings."""
        self._findings = findings
        self.parameters: dict[str, Parameter] = {}
        self.lines: dict[str, int] = {}

    def add(self, draft: Draft) -> None:
        """Check a draft; of two with the same name the first one counts."""
        found = list(rules.all_of(draft))
        if draft.name and draft.name in self.lines:
            first = self.lines[draft.name]
            text = f"the name is in line {first} already; remove one or rename it"
            found.insert(0, (Severity.ERROR, text))
        self.lines.setdefault(draft.name, draft.line)
        for severity, text in found:
            self._findings.add(
                draft.line, severity, f"{draft.name}: {text}" if draft.name else text
            )
        if all(severity is not Severity.ERROR for severity, _ in found):
            self.parameters[draft.name] = self._parameter(draft)

    def _parameter(self, draft: Draft) -> Parameter:
        return Parameter(
            draft.type,
            unit=draft.unit or None,
            description=self._description(draft) or None,
            labels=dict(sorted(draft.labels.items())) or None,
            range=_range(draft),
            limits=AlarmLimits(**draft.limits) if draft.limits else None,
            rate_hz=draft.rate_hz,
            source=draft.source or None,
        )

    def _description(self, draft: Draft) -> str:
        """As much of the description as the broker takes."""
        encoded = draft.description.strip().encode()
        if len(encoded) > DESCRIPTION_BYTES_MAX:
            text = f"the description has {len(encoded)} bytes; {DESCRIPTION_BYTES_MAX} are kept"
            self._findings.warning(draft.line, f"{draft.name}: {text}")
        return encoded[:DESCRIPTION_BYTES_MAX].decode(errors="ignore")


def _range(draft: Draft) -> tuple[float, float] | None:
    """The given range; the type's bound for an end that is not given."""
    if draft.least is None and draft.greatest is None:
        return None
    least, greatest = rules.bounds_of(draft.type) or (0, 0)
    return (
        least if draft.least is None else draft.least,
        greatest if draft.greatest is None else draft.greatest,
    )
