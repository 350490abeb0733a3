"""What a person has to change by hand in a project: each kind of hint once, with its places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.tables.presets import preset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from latebind.adopt.find import Found, Mention

_AT_LOAD = (
    "global objects of ONNX Runtime are created while the library is loaded: without a runtime, the program ends at "
    "that point. On Windows, the system also holds the loader lock at that time. Create each object in a function"
)
_UNCAUGHT = (
    "the C functions here catch no exceptions, but the project uses Ort::, which throws without a runtime. The "
    "process then ends. Catch Ort::Exception in these functions, or call lb_onnxruntime_available(NULL) of "
    "<latebind/stub.h> first"
)
_CPP = (
    "openvino::runtime is the C++ interface, but only the C interface can be bound late; the linker reports the C++ "
    "functions that you use"
)


def find_notes(discovery: Found) -> tuple[str, ...]:
    """One text for each kind of hint."""
    at_load = [f"{_name(discovery, path)}:{line}: {name}" for path, line, name in discovery.objects]
    folders = {library.file.parent for library in discovery.libraries}
    packed = [path for path in discovery.uncaught if any(path.is_relative_to(folder) for folder in folders)]
    uncaught = [_name(discovery, path) for path in packed if "onnxruntime" in discovery.runtimes]
    cpp = [_locate(discovery, link) for link in discovery.of("link") if "openvino::runtime" in link.command.words]
    return (
        *_render_hint(_AT_LOAD, at_load),
        *_render_hint(_UNCAUGHT, uncaught),
        *_list_own_libraries(discovery),
        *_list_fetches(discovery),
        *_render_hint(_CPP, cpp),
    )


def _list_own_libraries(discovery: Found) -> Iterator[str]:
    """Imported targets of a runtime that the project doesn't look up anywhere."""
    for runtime, mentions in _group_unsearched(discovery, "imported"):
        places = [f"{_locate(discovery, mention)}: {mention.target}" for mention in mentions]
        text = (
            "this imported target names a library of its own, not the stub; use the target that the stub defines for "
            "find_package"
        )
        yield from _render_hint(f"{text}({_name_package(runtime)})", places)


def _list_fetches(discovery: Found) -> Iterator[str]:
    """Downloads of a runtime that the project doesn't look up anywhere. Where it does, the stub answers first."""
    for runtime, mentions in _group_unsearched(discovery, "fetch"):
        places = [f"{_locate(discovery, mention)}: {mention.command.name}" for mention in mentions]
        text = f"this downloads {runtime}; replace it with find_package({_name_package(runtime)}), which finds the stub"
        yield from _render_hint(text, places)


def _group_unsearched(discovery: Found, kind: str) -> Iterator[tuple[str, list[Mention]]]:
    """Each runtime that the project doesn't search for, with the commands of a kind that name the runtime."""
    searched = {mention.runtime for mention in _lookups(discovery)}
    mentions = [mention for mention in discovery.of(kind) if mention.runtime not in searched]
    for runtime in dict.fromkeys(mention.runtime for mention in mentions):
        yield runtime, [mention for mention in mentions if mention.runtime == runtime]


def _name_package(runtime: str) -> str:
    """The name with which find_package() finds the stub of a runtime."""
    stub = preset(runtime).stub
    return stub.packages[0] if stub is not None else runtime


def _lookups(discovery: Found) -> list[Mention]:
    """The commands that search for a runtime, which latebind answers with the stub."""
    searched = [mention for mention in discovery.of("variable") if mention.command.name == "find_library"]
    return [*discovery.of("find"), *searched]


def _render_hint(text: str, places: Iterable[str]) -> Iterator[str]:
    """The text with its places: in one line if there is one, otherwise one below the other."""
    listed = list(dict.fromkeys(places))
    if len(listed) == 1:
        yield f"{listed[0]}: {text}"
    elif listed:
        yield "\n    ".join([f"{text}:", *listed])


def _locate(discovery: Found, mention: Mention) -> str:
    return f"{_name(discovery, mention.file)}:{mention.command.line}"


def _name(discovery: Found, path: Path) -> str:
    return path.relative_to(discovery.root).as_posix()
