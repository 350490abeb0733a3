"""Remembers test cases that passed, by the content of everything that decides how they end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from latebind.backend.files import write_text
from latebind.backend.tree import hash_file, hash_tree, is_scratch
from latebind.config.project import MSBUILD_OUTPUTS, Project
from latebind.fingerprint import fingerprint
from latebind.model import Artifact, Case, Outcome
from latebind.system.decoding import DECODE_ERRORS
from latebind.verify.declared import find_consumer, list_consumers


class Memory:
    """The folder of passed test cases, and what the keys of all test cases in one run have in common, hashed once."""

    def __init__(self, project: Project, folder: Path, artifacts: Sequence[Artifact], pins: Sequence[str]) -> None:
        """`pins` are the requirements of consumers at the versions that the index has now."""
        document = project.config.document
        self._folder, self._root, self._artifacts = folder, project.config.root, artifacts
        self._verify, self._outputs = document.verify, project.outputs
        settings = json.dumps(msgspec.to_builtins([document.verify, document.runtime]), sort_keys=True)
        descriptions = {consumer.describe_tools for consumer in list_consumers()}
        tools = sorted(describe(project.config) for describe in descriptions)
        self._shared = (*pins, *tools, settings, fingerprint())
        scripts = (self._root / name for name in self._verify.list_scripts().values())
        folders = {script.parent for script in scripts if script.is_file()}
        self._scripts = tuple(self._hash(path) for path in sorted(folders))
        self._hashes: dict[str, str] = {}

    def key(self, case: Case, interpreters: Sequence[str], machine: str) -> str:
        """A hash of everything that decides how the test case ends."""
        consumer = find_consumer(case.consumer)
        kinds = (case.kind, *consumer.further_kinds)
        parts = [
            case.id,
            *sorted(artifact.sha256 for artifact in self._artifacts if artifact.kind in kinds),
            *self._scripts,
            self._hash_program(consumer.program),
            machine,
            *interpreters,
            *self._shared,
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def recall(self, key: str) -> Outcome | None:
        """The outcome of an earlier run; None when there is none that can be read."""
        try:
            passed = msgspec.json.decode((self._folder / f"{key}.json").read_bytes(), type=Outcome)
        except (OSError, *DECODE_ERRORS):
            return None
        return replace(passed, cached=True)

    def keep(self, outcome: Outcome, key: str) -> None:
        """Remember a test case, if it passed."""
        if outcome.state.is_pass:
            write_text(self._folder / f"{key}.json", json.dumps(msgspec.to_builtins(outcome)))

    def _hash_program(self, key: str) -> str:
        """A hash of the folder that a key of `[verify]` names, "" where it names a script, which is hashed above."""
        if key not in self._hashes:
            program = self._root / self._verify.find_program(key) if key else None
            self._hashes[key] = self._hash(program) if program and program.is_dir() else ""
        return self._hashes[key]

    def _hash(self, folder: Path) -> str:
        """A hash of the folder of a consumer's script, which may read the files next to it.

        In the project's own folder only the files count, not what is built below it.
        """
        if folder.resolve() == self._root.resolve():
            files = [path for path in folder.iterdir() if path.is_file() and not is_scratch(path.name)]
            return "".join(hash_file(path) for path in sorted(files))
        return hash_tree(folder, without=MSBUILD_OUTPUTS, outputs=self._outputs)
