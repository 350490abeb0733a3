"""Describes runtimes to the loader, in C: the header of a preset, the header and source of a described runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from packaging.version import Version

from latebind.backend.files import write_changed
from latebind.config.config import Config
from latebind.config.described import NUMBERS, WIDE, DescribedRuntime
from latebind.config.runtime import RuntimeUse
from latebind.native.amalgamation import loader_amalgamation
from latebind.system.resources import cmake_dir
from latebind.tables.presets import PerSystem, RuntimePreset, RuntimeVariant
from latebind.templates import fill

_SYSTEMS = (("windows", "#if defined(_WIN32)"), ("macos", "#elif defined(__APPLE__)"), ("linux", "#else"))
"""The preprocessor's conditions for each operating system."""

_READ_NUMBERS = "return lb_read_numbers(numbers, sizeof *numbers, sizeof numbers / sizeof *numbers, text, size);"
_READER = """\
/* Reads the version without calling anything that an old runtime may lack. */
int lb_{name}_read_version(void* entry, char* text, size_t size);
"""
_READ_FUNCTION = """
/* It calls nothing else in the runtime, which may be too old for the rest. */
LB_CALLS_RUNTIME int lb_{name}_read_version(void* entry, char* text, size_t size) {{
  {returned} (*tell)({types}) = NULL;
  memcpy(&tell, &entry, sizeof tell); /* on POSIX and Windows, pointers to data and to functions have the same bytes */
  if (!tell) return 1;
{body}
}}
"""
_READ_VARIABLE = """
int lb_{name}_read_version(void* entry, char* text, size_t size) {{
  const char* told = NULL;
  if (!entry) return 1;
  memcpy(&told, entry, sizeof told);
{body}
}}
"""
_CHECK = """\
/* Checks that no function that the loader declares is missing from the runtime's table. */
int lb_{name}_check(void* entry, lb_version version, char* text, size_t size);
"""


def runtime_header(runtime: RuntimePreset, minimum: str, origin: str) -> str:
    """The header that describes a runtime; `minimum` is what holds unless CMake sets one."""
    major, minor, patch = three_numbers(minimum)
    macro = f"LATEBIND_{runtime.name.upper()}_MINIMUM"
    declared = _READER.format(name=runtime.name) if runtime.has_version else ""
    if runtime.check:
        declared += _CHECK.format(name=runtime.name)
    declared += _variants(runtime)
    return fill(
        "runtime.h",
        name=runtime.name,
        macro=runtime.name.upper(),
        title=runtime.title,
        origin=origin,
        floor="preset's own" if runtime.floor else "one below",
        major=major,
        minor=minor,
        patch=patch,
        minimum=minimum,
        names=_rows(runtime.names),
        globs=_rows(runtime.globs),
        sonames=",".join(rf"\"{name}\"" for name in runtime.names.linux),
        environment=runtime.environment,
        entry=runtime.entry_symbols[0],
        reader=f"lb_{runtime.name}_read_version" if runtime.has_version else "NULL",
        accepted=f"{macro}_MAJOR, {macro}_MINOR, {macro}_PATCH" if runtime.has_version else "0, 0, 0",
        built=", ".join(three_numbers(runtime.built)),
        advice=_advice(runtime),
        compatible=runtime.compatible.upper(),
        check=f"lb_{runtime.name}_check" if runtime.check else "NULL",
        variants=f"lb_{runtime.name}_variants, {len(runtime.variants)}" if runtime.variants else "NULL, 0",
        npm=runtime.npm,
        nuget=next(iter(runtime.nuget.ids), ""),
        maven=next((name for each in runtime.supplies.values() for name in each.packages), ""),
        declared=declared,
    )


def _variants(runtime: RuntimePreset) -> str:
    """The arrays that describe the variants, in C; "" without variants."""
    arrays, rows = list[str](), list[str]()
    for number, variant in enumerate(runtime.variants):
        name = f"lb_{runtime.name}_{{}}_{number}"
        parts = {"companions": variant.companions != PerSystem(), "signs": bool(variant.signs)}
        texts = {
            "companions": f"{_rows(variant.companions)}\n#endif",
            "signs": "\n".join(f'    "{name}",' for name in variant.signs),
        }
        arrays += [
            f"static const char* const {name.format(part)}[] = {{\n{texts[part]}\n    NULL}};"
            for part, is_needed in parts.items()
            if is_needed
        ]
        pointers = ", ".join(name.format(part) if is_needed else "NULL" for part, is_needed in parts.items())
        numbers = ", ".join(three_numbers(variant.minimum))
        rows.append(f"    {{sizeof(lb_variant), {{{numbers}}}, {_variant_advice(variant)}, {pointers}}},")
    if not rows:
        return ""
    head = f"static const lb_variant lb_{runtime.name}_variants[] = {{"
    return "\n".join([*arrays, head, *rows, "};"]) + "\n"


def _variant_advice(variant: RuntimeVariant) -> str:
    """The command that gets a variant, in C; NULL on systems without it."""
    text = _quote(variant.advice)
    if len(variant.systems) == len(_SYSTEMS):
        return text
    advised = _by_system(lambda system: [text if system in variant.systems else "NULL"])
    return f"\n{advised}\n#endif\n"


def described_texts(config: Config) -> dict[str, str]:
    """latebind/<name>.h and <name>.c of every runtime that the project describes, by name."""
    texts: dict[str, str] = {}
    for runtime in config.document.runtime:
        if runtime.describe is not None:
            header = runtime_header(runtime.traits, runtime.minimum, f"{config.file.name} by latebind")
            texts |= {f"latebind/{runtime.name}.h": header, f"{runtime.name}.c": described_source(runtime.describe)}
    return texts


def write_sources(config: Config, folder: Path) -> list[Path]:
    """Write those files; all of them, changed or not."""
    return write_changed(described_texts(config), folder)


def write_single(uses: Sequence[RuntimeUse], folder: Path) -> list[Path]:
    """Write the loader with these runtimes as latebind.c and latebind.h; the files, unchanged ones too."""
    loader = cmake_dir()
    texts = []
    for runtime in uses:
        header = runtime_header(runtime.traits, runtime.minimum, "a preset or description, by latebind")
        preset_source = loader / "src" / f"{runtime.name}.c"
        source = described_source(runtime.describe) if runtime.describe else preset_source.read_text("utf-8")
        texts.append((header, source))
    return write_changed(loader_amalgamation(loader, texts), folder)


def described_source(described: DescribedRuntime) -> str:
    """The source of a described runtime: its note for package managers, and the function that reads its version."""
    return fill(
        "runtime_version.c",
        name=described.name,
        macro=described.name.upper(),
        title=described.title or described.name,
        reader=_version_reader(described),
    )


def _version_reader(described: DescribedRuntime) -> str:
    """The function that reads the version in the form that the description names; "" where latebind writes none."""
    form = described.version
    if form in ("none", "own"):
        return ""
    if form == "variable":
        return _READ_VARIABLE.format(name=described.name, body=_indent(_read_text("told", described.scale)))
    if form == "text":  # the argument is for functions such as OpenSSL_version(int)
        returned, types, body = "const char*", "int", _read_text("tell(0)", described.scale)
    elif form == "structure":
        read = f"return lb_read_numbers(tell(), {described.bits // 8}, 3, text, size);"
        returned, types, body = "const void*", "void", [read]
    elif form == "integer":
        returned, types = "uint64_t" if described.bits == WIDE else "unsigned", "void"
        body = [f"const {returned} number = tell();", *_split(described.scale, described.bits)]
    elif form == "integer-out":
        read_lines = ["unsigned number = 0;", "tell(&number);"]
        returned, types, body = "void", "unsigned*", [*read_lines, *_split(described.scale, described.bits)]
    else:
        count = NUMBERS[form]
        addresses = ", ".join(f"&numbers[{index}]" for index in range(count))
        read_lines = [f"unsigned numbers[{count}] = {{0}};", f"tell({addresses});", _READ_NUMBERS]
        returned, types, body = "void", ", ".join(["unsigned*"] * count), read_lines
    return _READ_FUNCTION.format(name=described.name, returned=returned, types=types, body=_indent(body))


def _indent(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _read_text(told: str, scale: Sequence[int]) -> list[str]:
    """The lines that read the version out of a text, which is one number if there is a `scale`: "20914" is 2.9.14."""
    if not scale:
        return [f"return lb_read_text({told}, text, size);"]
    digits = "for (; *digit >= '0' && *digit <= '9'; digit++) number = number * 10 + (unsigned)(*digit - '0');"
    read = [f"if (lb_read_text({told}, text, size)) return 1;", "unsigned number = 0;", "const char* digit = text;"]
    return [*read, digits, *_split(scale, 32)]


def _split(scale: Sequence[int], bits: int) -> list[str]:
    """The lines that split `number` into versions: `scale` is what one version of each kind counts in it."""
    above = ["", *(f" % {unit}u" for unit in scale)]
    form = "(unsigned)({})" if bits == WIDE else "{}"
    numbers = ", ".join(form.format(f"number{rest} / {unit}u") for rest, unit in zip(above, scale, strict=False))
    return ["if (!number) return 1;", f"const unsigned numbers[] = {{{numbers}}};", _READ_NUMBERS]


def _quote(text: str) -> str:
    """A text of one line as C has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _advice(runtime: RuntimePreset) -> str:
    """The command that gets the runtime, in C."""
    if runtime.advice:
        return _quote(runtime.advice)
    if runtime.variants:
        return "NULL"
    distribution = runtime.python.extras.get("cpu") or runtime.python.distribution
    return f'"pip install \\"{distribution}>=" LATEBIND_{runtime.name.upper()}_MINIMUM "\\""'


def _rows(names: PerSystem) -> str:
    """The elements of an array of names, by operating system."""
    return _by_system(lambda system: [f'    "{name}",' for name in getattr(names, system)])


def _by_system(list_lines: Callable[[str], Iterable[str]]) -> str:
    """The lines of each operating system behind its condition, without #endif."""
    return "\n".join(line for system, condition in _SYSTEMS for line in (condition, *list_lines(system)))


def three_numbers(version: str) -> tuple[str, str, str]:
    """The major, minor and patch version; 0 where there is none."""
    parsed = Version(version or "0.0")
    return str(parsed.major), str(parsed.minor), str(parsed.micro)
