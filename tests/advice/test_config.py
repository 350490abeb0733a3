"""Advice on latebind.toml: the key is changed as the message says, and the configuration is read without a problem."""

from __future__ import annotations

import os

import pytest

from tests.advice.following import list_commands, list_settings, write_setting
from tests.conftest import ROOT
from tests.support import epclient as provider
from tests.support.client import BOUND, CONFIG, edit, write_client
from tests.support.running import assert_success
from tests.test_headers import ORT, make_repository

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


PROVIDER = provider.CONFIG.replace('license_file = "LICENSE"\n', "")
OTHER_PROVIDER = (
    '\n[package.other]\ncomponent = "other"\nep = { id = "other", names = ["Other"], minimum = "1.24.1" }\n'
)
RUNTIME = '[[runtime]]\npreset = "onnxruntime"\nminimum = "1.23.1"\n\n'
VARIANT = """[[runtime.describe.variants]]
minimum = "5.1"
files.linux = ["libz3.so.5"]
python = { folder = "z3/lib", extras = { solver = "z3-solver" } }

"""
TWO_RUNTIMES = (
    BOUND
    + CONFIG[CONFIG.index("[package.tiny]") : CONFIG.index("wheel =")].replace("tiny", "two")
    + 'runtime = "openvino"\nnuget = { id = "Two" }\n\n[[runtime]]\npreset = "openvino"\nminimum = "2025.1"\n'
)


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
        "Shorten it; package.{}.nuget.description may be longer.",
        PROVIDER,
        ('"Runs models on a tiny NPU"', f'"{600 * "x"}"'),
        then=lambda file, _: (
            edit(file, 600 * "x", "Runs models on a tiny NPU"),
            write_setting(file, "package.tiny", "nuget", f'{{ id = "Tiny", description = "{600 * "x"}" }}'),
        ),
    ),
    trial(
        "Remove the [[runtime]]: ONNX Runtime passes its functions to an execution provider.",
        PROVIDER,
        ("[package.tiny]", f"{RUNTIME}[package.tiny]"),
        then=without(RUNTIME),
    ),
    trial(
        "Use one minimum for all, or a project with its own latebind.toml for each minimum.",
        PROVIDER + OTHER_PROVIDER,
        then=lambda file, _: edit(file, "1.24.1", "1.23.1"),
    ),
    trial(
        "Use one minimum for all, or a project with its own latebind.toml for each minimum.",
        PROVIDER + OTHER_PROVIDER,
        then=without(OTHER_PROVIDER),
    ),
    trial(
        "Remove {}, or write it below [[variants]].",
        OWN,
        ('python = { folder = "z3/lib", extras = { solver = "z3-solver" } }\n', ""),
        ('files.macos = ["libz3.dylib", "libz3.*.dylib"]\nfiles.windows = ["libz3.dll"]\n', ""),
        (', "osx-arm64"', ""),
        ("[targets]", f"{VARIANT}[targets]"),
        then=without('files.linux = ["libz3.so", "libz3.so.*"]\n'),
    ),
    trial(
        "Add [verify.own.{}] with data of its own.",
        TWO_RUNTIMES + '\n[verify]\ndata = { script = "native/tiny.c", requires = { "1.20" = ["numpy"] } }\n',
        then=lambda file, advice: write_setting(
            file, advice[advice.index("[") + 1 : advice.index("]")], "data", '{ script = "native/tiny.c" }'
        ),
    ),
    trial(
        "Write sdk = true for a package with a library of its own.",
        CONFIG,
        ('nuget = { id = "Tiny" }', "sdk = true"),
        ('"python/tiny" }', '"python/tiny", kind = "cpython" }'),
        then=lambda file, _: (
            edit(file, "sdk = true", ""),
            write_setting(file, "package.own", "sdk", "true"),
            write_setting(file, "package.own", "component", '"own"'),
            write_setting(file, "package.own", "exports", '["own_*"]'),
        ),
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


@pytest.mark.advice(
    'Write build-backend = "hatchling.build", requires = ["hatchling>=1.29", "latebind>=0.1"] and latebind\'s two '
    "hooks: {}/howto/adopt.md"
)
def test_a_backend_without_hooks(tiny, latebind, advised):
    file = tiny / "python/tiny/pyproject.toml"
    for key, value in {"build-backend": '"flit_core.buildapi"', "requires": '["flit_core"]'}.items():
        write_setting(file, "build-system", key, value)
    change = list_settings(advised(latebind("-C", tiny, "plan")))
    for key in ("build-backend", "requires"):
        write_setting(file, "build-system", key, change[key])
    assert_success(latebind("-C", tiny, "plan"))


@pytest.mark.advice("Set package.{}.maven.package to another Java package.")
def test_two_jars_with_one_class(tiny, latebind, advised):
    file = tiny / "latebind.toml"
    two = CONFIG[CONFIG.index("[package.tiny]") : CONFIG.index("wheel =")].replace("tiny", "two")
    jar = 'maven = { group = "org.acme", name = "NAME", package = "org.acme" }\n'
    text = CONFIG + jar.replace("NAME", "tiny") + "\n" + two + jar.replace("NAME", "two")
    file.write_text(text, encoding="utf-8")
    [_, table, _, _] = advised(latebind("-C", tiny, "plan")).partition("Set ")[2].split()[0].split(".")
    assert table == "two"
    edit(file, 'name = "two", package = "org.acme"', 'name = "two", package = "org.acme.two"')
    assert_success(latebind("-C", tiny, "plan"))


def take_from(repository):
    """The environment in which git takes a folder for ONNX Runtime's repository."""
    settings = {"COUNT": "1", "KEY_0": f"url.{repository.as_uri()}.insteadOf", "VALUE_0": ORT.headers.repository}
    return {f"GIT_CONFIG_{key}": value for key, value in settings.items()}


@pytest.mark.parametrize("choice", ["name", "run"])
@pytest.mark.advice("Name the folder of the headers, or run: latebind headers {} {} --output {}")
def test_a_folder_of_headers_that_is_not_there(tmp_path, start_in, advised, choice):
    folder = write_client(tmp_path / "tiny", latebind=BOUND + 'drop_in = true\nheaders = "third_party"\n')
    advice = advised(start_in("plan", at=folder))
    if choice == "name":
        edit(folder / "latebind.toml", '"third_party"', '"."')
    else:
        repository = make_repository(tmp_path / "repository", "v1.20.0")
        [[_, *words]] = list_commands(advice)
        environment = {**os.environ, **take_from(repository), "LATEBIND_CACHE": str(tmp_path / "cache")}
        assert_success(start_in(*words, at=folder, env=environment))
        assert list((folder / "native/third_party").glob("*.h"))
    assert_success(start_in("plan", at=folder))
