"""From drafts to parameters: a draft that breaks a rule is told and left out."""

from slipring.dictionary import rules
from slipring.dictionary.draft import Draft
from slipring.dictionary.problem import Findings, Severity
from slipring.model import AlarmLimits, Parameter

DESCRIPTION_BYTES_MAX = 1_000


class Checker:
    """The parameters of one file, as far as they are right."""

    def __init__(self, findings: Findings) -> None:
        """Tell the findings what is wrong."""
        self._findings = findings
        self.parameters: dict[str, Parameter] = {}
        self.lines: dict[str, int] = {}

    def add(self, draft: Draft) -> None:
        """Check one; of two with one name, the first counts."""
        found = list(rules.all_of(draft))
        if draft.name and draft.name in self.lines:
            first = self.lines[draft.name]
            text = f"the name is in line {first} already; remove one or rename it"
            found.insert(0, (Severity.ERROR, text))
        self.lines.setdefault(draft.name, draft.line)
        tell = {
            Severity.ERROR: self._findings.error,
            Severity.WARNING: self._findings.warning,
            Severity.NOTE: self._findings.note,
        }
        for severity, text in found:
            tell[severity](draft.line, f"{draft.name}: {text}" if draft.name else text)
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
        """What the broker takes of it."""
        whole = draft.description.strip().encode()
        if len(whole) > DESCRIPTION_BYTES_MAX:
            text = f"the description has {len(whole)} bytes; {DESCRIPTION_BYTES_MAX} are kept"
            self._findings.warning(draft.line, f"{draft.name}: {text}")
        return whole[:DESCRIPTION_BYTES_MAX].decode(errors="ignore")


def _range(draft: Draft) -> tuple[float, float] | None:
    """What is given; an integer's other end is that of its type."""
    if draft.least is None and draft.greatest is None:
        return None
    least, greatest = rules.bounds_of(draft.type) or (0, 0)
    return (
        least if draft.least is None else draft.least,
        greatest if draft.greatest is None else draft.greatest,
    )
