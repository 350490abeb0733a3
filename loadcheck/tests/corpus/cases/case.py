"""A row of the corpus: what a check must find, and the good twin in which it must find nothing."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from corpus.packages import Bench
from loadcheck.audit import audit_here
from loadcheck.engine.cause import cause_id, fingerprint
from loadcheck.engine.check import Hit
from loadcheck.engine.policy import Policy, default_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from loadcheck.model import Finding


@dataclass(frozen=True)
class Case:
    """One bad subject with its good twin."""

    code: str
    what: str
    bad: Callable[[Bench], Sequence[Path]]
    good: Callable[[Bench], Sequence[Path]]
    at: str
    """How the subject of the finding ends."""
    says: str
    """What message and evidence must name."""
    severity: str = "error"
    good_severity: str = ""
    """How bad is what the check finds in the good twin; "" if it finds nothing."""
    policy: Policy = field(default_factory=default_policy)

    def __str__(self) -> str:
        """Its name among the tests."""
        return f"{self.code}-{self.what}".replace(" ", "_")


def check_case(case: Case, bench: Bench) -> None:
    """Assert that the check finds the bad subject, and nothing in its good twin."""
    bad = _list_findings(case, case.bad(bench))
    matching = [
        finding
        for finding in bad
        if finding.subject.endswith(case.at) and case.says in " ".join((finding.message, *finding.evidence))
    ]

    assert matching, [(finding.subject, finding.message, finding.evidence) for finding in bad]
    assert {finding.severity for finding in matching} == {case.severity}
    assert all(finding.fix and finding.evidence for finding in bad)

    for path in Path(bench.folder).iterdir():
        path.unlink()
    good = _list_findings(case, case.good(bench))
    assert {finding.severity for finding in good} == {case.good_severity} - {""}, good


def check_causes(case: Case, bench: Bench) -> None:
    """Assert that findings are identified by causes: by the same ones in other words, by others in one file."""
    paths = case.bad(bench)
    before = audit_here(paths, case.policy).findings
    with _in_other_words():
        after = audit_here(paths, case.policy).findings
    assert {finding.message for finding in before}.isdisjoint(finding.message for finding in after)
    assert sorted(map(fingerprint, before)) == sorted(map(fingerprint, after))
    assert sorted(map(cause_id, before)) == sorted(map(cause_id, after))

    messages: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for finding in before:
        messages[fingerprint(finding)].add((finding.subject, finding.message))
    assert [several for several in messages.values() if len(several) > 1] == []


@contextmanager
def _in_other_words() -> Iterator[None]:
    """Makes every check write other words, whatever it says."""
    write = Hit.__init__

    def reword(hit: Hit, **values: Any) -> None:
        texts = {key: f"in other words: {values[key]}" for key in ("message", "fix", "assumption") if values.get(key)}
        evidence = tuple(f"in other words: {text}" for text in values.get("evidence", ()))
        write(hit, **{**values, **texts, "evidence": evidence})

    with mock.patch.object(Hit, "__init__", reword):
        yield


def _list_findings(case: Case, paths: Sequence[Path]) -> list[Finding]:
    report = audit_here(paths, case.policy)
    return [finding for finding in report.findings if finding.code == case.code]


def made_by(make: Callable[..., Any]) -> Callable[..., Callable[[Bench], Any]]:
    """The function without its first argument, the bench: it describes what a bench makes.

    What it is made of may be such a description, or files may be; the bench makes them first.
    """

    def describe(*arguments: Any, **options: Any) -> Callable[[Bench], Any]:
        return lambda bench: make(bench, *(_resolve_argument(bench, argument) for argument in arguments), **options)

    return describe


def _resolve_argument(bench: Bench, argument: Any) -> Any:
    if isinstance(argument, dict):
        return {name: _resolve_argument(bench, data) for name, data in argument.items()}
    return argument(bench) if callable(argument) else argument


wheel, nupkg, npm = made_by(Bench.wheel), made_by(Bench.nupkg), made_by(Bench.npm)
bare, mac, windows = made_by(Bench.bare), made_by(Bench.mac), made_by(Bench.windows)
good, linked, dylib, dll = made_by(Bench.good), made_by(Bench.linked_library), made_by(Bench.dylib), made_by(Bench.dll)
runtime, mac_runtime = made_by(Bench.runtime), made_by(Bench.mac_runtime)
windows_runtime = made_by(Bench.windows_runtime)
shared = made_by(lambda bench, *arguments, **options: bench.compiler.library(*arguments, **options))
contents = made_by(lambda _bench, path: path.read_bytes())
import_library = made_by(lambda bench, path: bench.compiler.import_library(path))
