"""Plans how a project's own build binds a runtime late, and tries the plan: builds a changed copy, and compares."""

from __future__ import annotations

import difflib
import os
import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import tomlkit
from packaging.requirements import Requirement
from packaging.version import Version
from tomlkit.exceptions import TOMLKitError

from latebind.adopt.causes import apply_edits, find_causes
from latebind.adopt.ownbuild import build_wheel, copy_project
from latebind.adopt.product import read_product
from latebind.adopt.setuppy import add_to_setup
from latebind.adopt.vendor import make_files
from latebind.errors import BuildError
from latebind.semver import version_of
from latebind.system.run import run
from latebind.text import is_crash, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from latebind.adopt.causes import Cause
    from latebind.adopt.ownbuild import Backend, Built
    from latebind.adopt.product import Product
    from latebind.tables.presets import RuntimePreset

_LOAD_LIMIT = 60.0
_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
_UNDEFINED = re.compile(r"undefined symbol: (\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to be written into a project."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Files that change, with their new texts."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """New files."""

    def write(self, root: Path) -> None:
        """Write the files."""
        for name, data in {**self.files, **{path: text.encode() for path, text in self.texts.items()}}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)

    def list_places(self) -> list[str]:
        """The changed files, and the folders of new ones."""
        return [*sorted(self.texts), *dict.fromkeys(name.rpartition("/")[0] or name for name in self.files)]

    def list_changes(self, root: Path) -> Iterator[str]:
        """Each changed line, as `path:line: - old` and `path:line: + new`, several old ones by the first; new files."""
        for path, text in sorted(self.texts.items()):
            old, new = (root / path).read_text("utf-8").splitlines(), text.splitlines()
            for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                if tag == "equal":
                    continue
                if last - first > 1:
                    yield f"{path}:{first + 1}-{last}: - {old[first].strip()} …"
                elif last > first:
                    yield f"{path}:{last}: - {old[first].strip()}"
                yield from (f"{path}:{number + 1}: + {new[number].strip()}" for number in range(start, end))
        if self.files:
            folder = next(iter(self.files)).rpartition("/")[0]
            yield f"new: {folder} (the stub in {plural(len(self.files), 'file')})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Change):
    """What makes a project's wheel bind a runtime late."""

    runtime: RuntimePreset
    causes: tuple[Cause, ...]
    requirement: str
    """The requirement that the wheel lacks; "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of a plan, tried in a copy of the project."""

    obstacles: tuple[str, ...] = ()
    """What cannot be bound late, a line each."""
    error: str = ""
    """Why the changed project does not build; "" if it does."""
    left: tuple[str, ...] = ()
    """What the new wheel still links, contains or lacks."""
    gained: tuple[str, ...] = ()
    """What is right in it, in words."""


def plan_changes(built: Built, product: Product, backend: Backend, runtime: RuntimePreset) -> Plan:
    """The changes that are certain."""
    causes = tuple(find_causes(built, backend, runtime))
    edits = [cause.edit for cause in causes if cause.edit]
    required = product.find_requirement(runtime)
    minimum = _choose_minimum(built, runtime, required)
    texts = apply_edits(built.root, edits, runtime)
    requirement = "" if required or not runtime.distribution else f"{runtime.distribution}>={minimum}"
    if requirement and (edits or not product.findings):
        texts |= _add_requirement(built.root, requirement, texts.get("setup.py", ""))
    files = make_files(built, runtime, minimum) if edits else {}
    return Plan(runtime=runtime, causes=causes, texts=texts, files=files, requirement=requirement)


def _choose_minimum(built: Built, runtime: RuntimePreset, required: str) -> str:
    """The oldest version to bind: what the project requires or asks find_package() for, if latebind supports that."""
    parts = Requirement(required).specifier if required else ()
    asked = [part.version for part in parts if part.operator in (">=", "==", "~=")]
    packages = runtime.stub.packages if runtime.stub else ()
    calls = (call for call in built.calls if call.command == "find_package" and call.args[:1] and call.args[1:])
    asked += [call.args[1] for call in calls if call.args[0] in packages]
    return max([runtime.floor, *filter(version_of, asked)], key=Version)


def _add_requirement(root: Path, requirement: str, setup: str) -> dict[str, str]:
    """The file with the project's requirements and one more; {} where it has them from elsewhere.

    `setup` is the text of setup.py if that changes, too.
    """
    file, script = root / "pyproject.toml", root / "setup.py"
    try:
        document = tomlkit.parse(file.read_text("utf-8")) if file.is_file() else tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError):
        return {}
    project: Any = document.get("project")
    if project is None:
        text = add_to_setup(setup or script.read_text("utf-8"), requirement) if script.is_file() else ""
        return {script.name: text} if text else {}
    if "dependencies" in project.get("dynamic", ()):
        return {}
    project.setdefault("dependencies", tomlkit.array()).append(requirement)
    return {file.name: tomlkit.dumps(document)}


def try_plan(plan: Plan, root: Path, backend: Backend, product: Product, scratch: Path) -> Attempt:
    """Build a copy of the project with the plan's changes in the empty folder `scratch`, and look at its wheel."""
    copy = copy_project(root, scratch / "project")
    plan.write(copy)
    try:
        built = build_wheel(backend, copy, scratch)
    except BuildError as error:
        return Attempt(error=error.message)
    after, runtime = read_product(built.wheel), plan.runtime
    obstacles = tuple(_list_obstacles(product, built.wheel, backend, runtime, scratch))
    left, gained = after.describe(), []
    if not any(finding.code in ("LB101", "LB102") for finding in after.findings):
        gained.append(f"links no {runtime.title}")
    if required := after.find_requirement(runtime):
        gained.append(f"requires {required}")
    elif plan.requirement:
        left.append(f"requires no distribution of {runtime.title}: add {plan.requirement} to its dependencies")
    for name, exports in product.exports.items():
        lost = sorted(exports - after.exports.get(name, frozenset())) if name in after.exports else []
        left += [f"{name}: no longer exports {', '.join(lost[:3])}"] if lost else []
    if all(exports == product.exports.get(name) for name, exports in after.exports.items()):
        gained.append("exports what it did")
    return Attempt(obstacles=obstacles, left=tuple(left), gained=tuple(gained))


def _list_obstacles(
    before: Product, wheel: Path, backend: Backend, runtime: RuntimePreset, scratch: Path
) -> Iterator[str]:
    """What a library that linked the runtime cannot do without it: each is loaded in a process of its own."""
    site, record = scratch / "site", scratch / "record.json"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)  # the project's own build made it
    linked = {finding.subject.rpartition("!")[2] for finding in before.findings if finding.code == "LB101"}
    imported = {symbol.name for _, image in before.contents.images for symbol in image.imports}
    for name in sorted(linked):
        if not (site / name).is_file():
            continue
        env = {**os.environ, "LATEBIND_RECORD": str(record)}
        argv: list[str | Path] = [backend.python, "-I", "-c", _LOAD, site / name]
        ended = run(argv, cwd=scratch, env=env, timeout=_LOAD_LIMIT, check=False)
        symbol = _UNDEFINED.search(ended.output)
        if is_crash(ended.returncode) or record.is_file():
            yield f"{name}: a static object calls {runtime.title} while the library is loaded: create it in a function"
        elif symbol and symbol[1] in imported:
            yield f"{name}: needs {symbol[1]}, which no stub has: only the runtime's C functions can be bound late"
