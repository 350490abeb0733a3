"""Advice on latebind.toml: the key is changed as the message says, and the configuration is read without a problem."""

from __future__ import annotations

import pytest

from tests.advice.following import list_settings, write_setting
from tests.client import BOUND, CONFIG, edit, write_client
from tests.conftest import ROOT
from tests.programs import assert_success

OWN = (ROOT / "examples/own-runtime/latebind.toml").read_text("utf-8").replace('python = "verify/smoke.py"', "")
"""A runtime that the project describes."""


FUNCTIONS = next(line for line in OWN.splitlines() if line.startswith("functions = "))


def settings(table, *keys):
    """Write what the advice names into a table."""

    def change(file, advice):
        named = list_settings(advice)
        for key in keys or named:
            write_setting(file, table, key, named[key])

    return change


def without(line):
    """Remove what the advice says that can be removed."""
    return lambda file, _: edit(file, line, "", 1)


def trial(advice, config, *faults, then):
    return pytest.param(config, faults, then, marks=pytest.mark.advice(advice), id=advice[:50])


TRIALS = [
    trial('Write glibc = "{}" or newer.', CONFIG, ('glibc = "2.28"', 'glibc = "2.5"'), then=settings("targets")),
    trial('Write version = "{}".', CONFIG, ('"1.2.3"', '"1.02.3"'), then=settings("project")),
    trial(
        "Remove {} from targets.include, or a name from this list.",
        CONFIG,
        ("\n[package", '\n[targets.linux-x64]\nexclude = ["tiny"]\n\n[package'),
        then=lambda file, _: edit(file, 'exclude = ["tiny"]', "exclude = []"),
    ),
    trial(
        "Remove {} from targets.include, or a name from this list.",
        CONFIG.replace('"linux-x64"', '"linux-x64", "linux-arm64"'),
        ("\n[package", '\n[targets.linux-arm64]\nexclude = ["tiny"]\n\n[package'),
        then=without(', "linux-arm64"'),
    ),
    trial(
        'Write the runtime version from which the number applies: { "1.19" = 1000 }.',
        BOUND,
        ("\n[[runtime", '\n[verify]\nat_least = { "new" = 3 }\n[[runtime'),
        then=lambda file, advice: edit(
            file, '{ "new" = 3 }', advice[advice.index("{") :].partition(" or ")[0].rstrip(".")
        ),
    ),
    trial(
        'Write the runtime version from which they apply, { "1.19" = ["onnx==1.16.2"] }, or default.',
        BOUND,
        ("\n[[runtime", '\n[verify]\ndata = { script = "latebind.toml", requires = { "new" = ["onnx"] } }\n[[runtime'),
        then=lambda file, advice: edit(file, '{ "new" = ["onnx"] }', advice[advice.index("{") :].partition(", or ")[0]),
    ),
    trial(
        'Write source = the folder of its pyproject.toml; or, if your own build makes the wheel, name = "...".',
        CONFIG,
        ('{ source = "python/tiny" }', "{}"),
        then=lambda file, _: edit(file, "wheel = {}", 'wheel = { source = "python/tiny" }'),
    ),
    trial(
        'Write source = the folder of its pyproject.toml; or, if your own build makes the wheel, name = "...".',
        CONFIG,
        ('{ source = "python/tiny" }', "{}"),
        then=lambda file, _: edit(file, "wheel = {}", 'wheel = { name = "tiny" }'),
    ),
    trial(
        'Set package.{}.wheel.name = "{}".',
        CONFIG,
        ('"python/tiny" }', '"python/tiny", name = "other" }'),
        then=lambda file, advice: edit(file, '"other"', list_settings(advice)["package.tiny.wheel.name"]),
    ),
    trial(
        'Add runtime = "..." to [package.{}].',
        BOUND,
        ('"python/tiny" }', '"python/tiny", runtime = "required" }'),
        ('runtime = "onnxruntime"\n', ""),
        ('[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n', ""),
        then=lambda file, _: edit(
            file,
            "[package.tiny]",
            '[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n[package.tiny]\nruntime = "onnxruntime"',
        ),
    ),
    trial(
        'Write runtime = "{}" below [package.{}], or remove the [[runtime]].',
        BOUND,
        ('runtime = "onnxruntime"\n', ""),
        then=settings("package.tiny"),
    ),
    trial(
        'Write runtime = "{}" below [package.{}], or remove the [[runtime]].',
        BOUND,
        ('runtime = "onnxruntime"\n', ""),
        then=without('[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n'),
    ),
    trial(
        "Write preset = one of {}, or describe it below [runtime.describe].",
        BOUND,
        ('preset = "onnxruntime"\n', ""),
        then=lambda file, advice: write_setting(
            file, "[runtime]", "preset", f'"{next(name for name in advice.split(", ") if name == "onnxruntime")}"'
        ),
    ),
    trial('Write minimum = "{}".', BOUND, ('"1.20"', '"1.2"'), then=settings("[runtime]")),
    trial(
        "List its functions below [runtime.describe.stub], or use a preset: {}.",
        OWN.partition("[runtime.describe.stub]")[0] + "[targets]" + OWN.partition("[targets]")[2],
        then=lambda file, _: write_setting(file, "runtime.describe.stub", "functions", '["Z3_mk_config"]'),
    ),
    trial(
        "Write drop_in = true, or remove headers.",
        BOUND,
        ('minimum = "1.20"', 'minimum = "1.20"\nheaders = "."'),
        then=settings("[runtime]"),
    ),
    trial(
        "Write drop_in = true, or remove headers.",
        BOUND,
        ('minimum = "1.20"', 'minimum = "1.20"\nheaders = "."'),
        then=without('headers = "."'),
    ),
    trial(
        "Remove preset or [runtime.describe].",
        OWN,
        ('minimum = "5.0"', 'minimum = "5.0"\npreset = "onnxruntime"'),
        then=without('preset = "onnxruntime"'),
    ),
    trial(
        'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }.',
        OWN,
        ('python = { folder = "z3/lib", extras = { solver = "z3-solver" } }', 'advice = "Ask Joe"'),
        then=settings("runtime.describe", "python"),
    ),
    trial(
        'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }, or advice.',
        OWN,
        ('python = { folder = "z3/lib", extras = { solver = "z3-solver" } }', ""),
        then=settings("runtime.describe", "python"),
    ),
    trial(
        'Name one: extras = { cpu = "thing" }.',
        OWN,
        ('{ solver = "z3-solver" }', "{}"),
        then=lambda file, advice: edit(file, "extras = {}", f"extras = {list_settings(advice)['extras']}"),
    ),
    trial(
        'Write preset = "{}" instead of the description, or choose another name.',
        OWN,
        ('name = "z3"', 'name = "onnxruntime"'),
        ('runtime = "z3"', 'runtime = "onnxruntime"'),
        then=lambda file, _: (
            edit(file, 'name = "onnxruntime"', 'name = "z3"'),
            edit(file, 'runtime = "onnxruntime"', 'runtime = "z3"'),
        ),
    ),
    trial(
        "scale = [10000, 100, 1] if 20304 is 2.3.4",
        OWN,
        ('"four-numbers"', '"integer"'),
        then=lambda file, advice: write_setting(
            file, "runtime.describe", "scale", advice.partition("scale = ")[2].partition(" if")[0]
        ),
    ),
    trial(
        'Write version = "integer", or remove scale.',
        OWN,
        ('"four-numbers"', '"four-numbers"\nscale = [100, 1]'),
        then=settings("runtime.describe"),
    ),
    trial(
        'Write version = "integer", or remove scale.',
        OWN,
        ('"four-numbers"', '"four-numbers"\nscale = [100, 1]'),
        then=without("scale = [100, 1]"),
    ),
    trial(
        'Write files.{} = ["{}"]{}, or leave those targets out.',
        OWN,
        ('files.linux = ["libz3.so", "libz3.so.*"]\n', ""),
        then=settings("runtime.describe"),
    ),
    trial(
        'Write functions = ["thing_open", "libthing.so"], or name the library: latebind stub --functions FILE.',
        OWN,
        (
            FUNCTIONS,
            "",
        ),
        then=lambda file, advice: write_setting(
            file,
            "runtime.describe.stub",
            "functions",
            list_settings(advice)["functions"].replace(', "libthing.so"', ""),
        ),
    ),
    trial(
        'Write kind = "cpython", or remove pythons.',
        CONFIG.replace('nuget = { id = "Tiny" }', ""),
        ('"python/tiny" }', '"python/tiny", pythons = ["3.12"] }'),
        then=lambda file, advice: edit(file, "pythons =", f"kind = {list_settings(advice)['kind']}, pythons ="),
    ),
    trial(
        'Write kind = "cpython", or remove pythons.',
        CONFIG.replace('nuget = { id = "Tiny" }', ""),
        ('"python/tiny" }', '"python/tiny", pythons = ["3.12"] }'),
        then=without(', pythons = ["3.12"]'),
    ),
    trial(
        'Name the folder of the native code, such as source = "src".',
        CONFIG,
        ('source = "native"', 'source = "nativ"\nbuild = "external"'),
        then=lambda file, _: edit(file, '"nativ"', '"native"'),
    ),
    trial(
        "Set native.{} to the folder of the top-level CMakeLists.txt. If another build system makes the native files, "
        'write build = "external" below [native].',
        CONFIG,
        ('source = "native"', 'source = "python"'),
        then=settings("native"),
    ),
    trial(
        "Set native.{} to the folder of the top-level CMakeLists.txt. If another build system makes the native files, "
        'write build = "external" below [native].',
        CONFIG,
        ('source = "native"', 'source = "python"'),
        then=lambda file, _: edit(file, 'source = "python"\n', 'source = "native"\n'),
    ),
    trial(
        "Set package.{}.wheel.name.",
        CONFIG.replace('"python/tiny"', '"python/tiny", name = "tiny-"'),
        then=lambda file, _: edit(file, '"tiny-"', '"tiny"'),
    ),
]


@pytest.mark.parametrize(("config", "faults", "then"), TRIALS)
def test_the_key_is_written_as_the_message_says(tmp_path, latebind, advised, config, faults, then):
    folder = write_client(tmp_path / "tiny", latebind=config)
    (folder / "python/zsolve").mkdir()
    (folder / "python/zsolve/pyproject.toml").write_text('[build-system]\nrequires = ["hatchling"]\n', encoding="utf-8")
    file = folder / "latebind.toml"
    for old, new in faults:
        edit(file, old, new)
    refused = latebind("-C", folder, "plan")
    assert refused.returncode == 2, refused.stdout
    then(file, advised(refused))
    assert_success(latebind("-C", folder, "plan"))
