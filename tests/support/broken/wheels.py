"""Ways to break wheels: tags, RECORD, metadata, Python files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.broken import natives
from tests.support.broken.packages import BACKEND, CORE, Way, digest, dist_info, in_wheel, swap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.broken.packages import Members, Packages

_FORTIFIED = "#include <unistd.h>\nint latenn_backend_table(void *to) { return getentropy(to, 16); }\n"


def _edit_wheel(
    change: Callable[[Members], object], library: str = BACKEND, *, record: bool = True
) -> Callable[[Packages], object]:
    return lambda packages: packages.edit(packages.wheel(library), change, record=record)


def _retag_wheel(old: str, new: str) -> Callable[[Packages], object]:
    """Another tag in WHEEL and file name alike, as `wheel tags` does."""

    def retag(packages: Packages) -> None:
        path = packages.wheel()
        packages.edit(path, lambda members: swap(members, dist_info(members, "WHEEL"), old, new),
                      name=path.name.replace(old, new))  # fmt: skip

    return retag


def _too_low(packages: Packages) -> None:
    """getentropy came with glibc 2.25."""
    data = natives.compile_library(_FORTIFIED)
    packages.beside("liblatenn_random.so", data)
    _retag_wheel("manylinux_2_28", "manylinux_2_17")(packages)


def _other_processor(packages: Packages) -> None:
    """The wheel for arm64 takes the place and the tag of that for x64."""
    other = packages.wheel(BACKEND, "linux-arm64")
    ours = packages.wheel()
    data = other.read_bytes()
    packages.edit(
        other, lambda members: swap(members, dist_info(members, "WHEEL"), "aarch64", "x86_64"), name=ours.name
    )
    other.write_bytes(data)


def _wrong_hash(members: Members) -> None:
    swap(members, dist_info(members, "RECORD"), digest(members[in_wheel(BACKEND)]), digest(b"another"))


def _line_lacking(members: Members) -> None:
    name = dist_info(members, "RECORD")
    lines = members[name].splitlines(keepends=True)
    members[name] = b"".join(line for line in lines if not line.startswith(in_wheel(BACKEND).encode()))


def _metadata(old: str, new: str) -> Callable[[Packages], object]:
    return _edit_wheel(lambda members: swap(members, dist_info(members, "METADATA"), old, new))


def _python(name: str, old: str, new: str) -> Callable[[Packages], object]:
    return _edit_wheel(lambda members: swap(members, f"latenn/{name}", old, new), CORE)


_COPIED = "tensor.bytes)\n        return array\n"
_NAME = "Name: latenn-onnxruntime\n"

WAYS: Sequence[Way] = (
    Way(name="tag-too-low", title="the tag promises an older glibc than a library needs", breaks=_too_low),
    Way(name="tag-of-another", title="the wheel for arm64 bears the tag of x64", breaks=_other_processor),
    Way(name="tag-any", title="the tag promises every platform",
        breaks=_retag_wheel("manylinux_2_28_x86_64", "any")),
    Way(name="tag-unlike", title="file name and WHEEL have different tags",
        breaks=_edit_wheel(lambda members: swap(members, dist_info(members, "WHEEL"), "x86_64", "aarch64")),
        is_hygiene=True),
    Way(name="record-hash", title="a hash in RECORD is wrong", breaks=_edit_wheel(_wrong_hash, record=False)),
    Way(name="record-line", title="RECORD does not list the library", breaks=_edit_wheel(_line_lacking, record=False)),
    Way(name="record-lacking", title="there is no RECORD",
        breaks=_edit_wheel(lambda members: members.pop(dist_info(members, "RECORD")), record=False)),
    Way(name="metadata-version", title="METADATA's version is not that of the file name",
        breaks=_metadata("Version: 0.1.0\n", "Version: 0.1.1\n")),
    Way(name="requires-core", title="the backend's wheel requires a core that does not exist",
        breaks=_metadata(_NAME, f"{_NAME}Requires-Dist: latenn>=9\n")),
    Way(name="requires-runtime", title="the backend's wheel requires one distribution of the runtime",
        breaks=_metadata(_NAME, f"{_NAME}Requires-Dist: onnxruntime>=1.19\n")),
    Way(name="requires-older", title="the backend's wheel requires a runtime older than the minimum",
        breaks=_metadata(_NAME, f"{_NAME}Requires-Dist: onnxruntime<1.19\n")),
    Way(name="wheel-escape", title="an entry of the wheel leaves the folder",
        breaks=_edit_wheel(lambda members: members.update({"../../latenn.txt": b"outside"}))),
    Way(name="leftovers", title="files of a build were packed",
        breaks=_edit_wheel(lambda members: members.update({"latenn_onnxruntime/__pycache__/a.cpython-311.pyc": b"\0"})),
        is_hygiene=True),
    Way(name="init-lacking", title="__init__.py is missing",
        breaks=_edit_wheel(lambda members: members.pop("latenn/__init__.py"), CORE)),
    Way(name="entry-point-lacking", title="the backend's entry point is missing",
        breaks=_edit_wheel(lambda members: members.pop(dist_info(members, "entry_points.txt")))),
    Way(name="numbers-off", title="a Python file adds one to every result",
        breaks=_python("_tensors.py", _COPIED, _COPIED.replace("return array", "return array + 1"))),
)  # fmt: skip
