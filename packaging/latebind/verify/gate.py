"""The gate of a release: which cells must have passed, and which of them have not; reads and runs nothing."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from latebind.model import State
from latebind.text import markdown_code, markdown_text, plural, printable
from latebind.verify.grid import words
from latebind.verify.render import MARKS
from latebind.verify.scenarios import SCENARIOS
from latebind.verify.select import read_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from latebind.config import Config
    from latebind.verify.report import Report, Row

_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A glob over ids of cells, which must all have passed. One that matches no cell blocks, unless it may be empty."""

    glob: str
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One thing that keeps the gate shut: a cell or a pattern, why, and what to do about it."""

    subject: str
    why: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The required cells of a report, in its order, and all that blocks."""

    required: tuple[Row, ...]
    blocks: tuple[Block, ...]

    @property
    def exit_status(self) -> int:
        """1 while anything blocks, else 0."""
        return int(bool(self.blocks))


def patterns(config: Config) -> tuple[Pattern, ...]:
    """What [verify].required says; by default works, which every target must have, and all negative scenarios."""
    if config.document.verify.required:
        return tuple(Pattern(glob=glob) for glob in config.document.verify.required)
    negative = [row.name for row in SCENARIOS if row.negative]
    return tuple(
        pattern
        for rid in config.document.targets.include
        for pattern in (
            Pattern(glob=f"*/{rid}/*/works"),
            *(Pattern(glob=f"*/{rid}/*/{name}", may_be_empty=True) for name in negative),
        )
    )


def judge_gate(config: Config, report: Report) -> Gate:
    """Hold a report against what the configuration requires."""
    wanted = patterns(config)
    required = tuple(row for row in report.cells if any(fnmatchcase(row.id, pattern.glob) for pattern in wanted))
    blocks = [
        *(block for pattern in wanted for block in _empty(pattern, report)),
        *_missing_shares(report),
        *(_block(report, row) for row in required if row.outcome is not State.PASSED),
    ]
    return Gate(required=required, blocks=tuple(blocks))


def _empty(pattern: Pattern, report: Report) -> Iterator[Block]:
    if not pattern.may_be_empty and not any(fnmatchcase(row.id, pattern.glob) for row in report.cells):
        target = pattern.glob.split("/")[1] if pattern.glob.count("/") else ""
        known = target and not set(target) & set("*?[")
        cure = f"Run latebind verify{f' --target {target}' if known else ''}, merge its report, or mend the pattern."
        yield Block(subject=pattern.glob, why="is required, and matches no cell of the report", cure=cure)


def _missing_shares(report: Report) -> Iterator[Block]:
    """Shares that nobody reported: their cells are in no report, and would not be missed."""
    found: dict[tuple[str, str, int], set[int]] = {}
    for machine in report.machines:
        if machine.get("share"):
            index, number = read_shard(machine["share"])
            key = (machine.get("targets", machine.get("target", "")), machine.get("python", ""), number)
            found.setdefault(key, set()).add(index)
    for (rids, _, number), have in sorted(found.items()):
        for index in sorted(set(range(1, number + 1)) - have):
            words = " ".join(f"--target {rid}" for rid in rids.split())
            yield Block(
                subject=f"share {index}/{number} of {rids}",
                why="was reported by no machine",
                cure=f"Run latebind verify {words} --shard {index}/{number}, and merge its report.",
            )


def _block(report: Report, row: Row) -> Block:
    if row.outcome is State.FAILED:
        why = f"failed: {words(report, row)}"
        return Block(subject=row.id, why=why, cure=f"Read {row.log}, mend it, and run: latebind verify -k {row.id}")
    cure = f"Run latebind verify --target {row.target} where that can run, and merge its report."
    return Block(subject=row.id, why=words(report, row), cure=cure)


def to_text(gate: Gate) -> str:
    """For a terminal: the required cells; what blocks, equal reasons once, with what to do; the last line counts."""
    lines = [f"{MARKS[row.outcome]}  {row.id}" for row in gate.required]
    reasons: dict[tuple[str, str], list[str]] = {}
    for block in gate.blocks:
        reasons.setdefault((block.why, block.cure), []).append(block.subject)
    for (why, cure), subjects in reasons.items():
        lines += ["", *subjects, f"  {why}", f"  {cure}"]
    return "".join(f"{printable(line)}\n" for line in [*lines, "", count(gate)])


def to_json(gate: Gate) -> str:
    """`{"required": [{"id", "outcome"}], "blocks": [{"subject", "why", "cure"}]}`, ending with a line feed."""
    document = {
        "required": [{"id": row.id, "outcome": row.outcome.value} for row in gate.required],
        "blocks": [asdict(row) for row in gate.blocks],
    }
    return json.dumps(document, indent=2) + "\n"


def to_markdown(gate: Gate) -> str:
    """For a job's summary."""
    lines = [f"## {'❌' if gate.blocks else '✅'} latebind gate", "", f"{count(gate)}."]
    if gate.blocks:
        lines += ["", "| what | why | what next |", "|---|---|---|"]
        lines += [
            f"| {markdown_code(row.subject)} | {markdown_text(row.why, _LONGEST)} | "
            f"{markdown_text(row.cure, _LONGEST)} |"
            for row in gate.blocks
        ]
    return "\n".join(lines) + "\n"


def count(gate: Gate) -> str:
    """`12 required cells, 11 passed: shut, 1 block` or `open`."""
    passed = sum(row.outcome is State.PASSED for row in gate.required)
    state = f"shut, {plural(len(gate.blocks), 'block')}" if gate.blocks else "open"
    return f"{plural(len(gate.required), 'required cell')}, {passed} passed: {state}"


RENDERERS: Mapping[str, Callable[[Gate], str]] = {"text": to_text, "json": to_json, "markdown": to_markdown}
"""What `--format` may say."""
