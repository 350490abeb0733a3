"""What a configuration may say, as a table: each refusal beside the nearest thing that is accepted."""

import pytest

from latebind.config.file import load
from latebind.config.plugin import EpConfig
from latebind.errors import ConfigError
from tests.support.client import BOUND, write_client
from tests.support.thingclient import DESCRIBED

WHEEL = 'wheel = { source = "python/tiny" }'
TWO = '[package.two]\ncomponent = "two"\nexports = ["t_*"]\n'
EXCLUDE = "[targets.linux-x64]\nexclude = "
BY_VERSION = '[verify]\npython = "s.py"\ndata = { script = "d.py", requires = { "1.20" = ["x"] } }'
SECOND = '\n[[runtime]]\npreset = "openvino"\nminimum = "2025.1"\n'
TABLE = [
    # Targets and what is made for them.
    (f'{EXCLUDE}["tiny"]', "linux-x64 has no package left"),
    ('[targets.win-x64]\nexclude = ["tiny"]', ""),  # no target of the project
    (f'{EXCLUDE}["tinny"]', "'tinny' is not a package of this project"),
    (f"{EXCLUDE}[]", ""),
    (f'{TWO}wheel = {{ name = "two" }}\n{EXCLUDE}["two"]', ""),
    (f'{TWO}wheel = {{ name = "two" }}\nrequires = ["tiny"]\n{EXCLUDE}["tiny"]', "two is made for linux-x64 but"),
    (f"{TWO}wheel = {{}}", "the wheel has neither source nor name"),
    (f'{TWO}wheel = {{ name = "two?" }}', "'two?' is not the name of a distribution"),
    (f'{TWO}nuget = {{ id = "Two" }}', ""),
    # Which versions are verified.
    ('[verify]\nruntimes.onnxruntime = ["minimum", "1.22.0", "latest", "each-minor"]', ""),
    ('[verify]\nruntimes.onnxruntime = ["latest", "newest"]', "'newest' is not a version"),
    ('[verify]\nruntimes.openvino = ["latest"]', "'openvino' is not a [[runtime]] of this project"),
    ("[verify]\nown.openvino = {}", "'openvino' is not a [[runtime]] of this project"),
    ('[verify]\npythons = ["3.11"]', ""),
    ('[verify]\npythons = ["3"]', "'3' is not a minor version of CPython"),
    (f'{SECOND}{TWO}runtime = "openvino"\nnuget = {{ id = "Two" }}\n{BY_VERSION}', "not of openvino"),
    # What is released without a test case.
    ('[release]\nunverified = { nupkg = "no SDK", "wheel/linux-x64" = "no machine" }', ""),
    ('[release]\nunverified = { nupgk = "no SDK" }', "'nupgk' is not a kind of package"),
    ('[release]\nunverified = { "wheel/win-x64" = "no machine" }', "'win-x64' in 'wheel/win-x64' is not a target"),
    # Texts are plain lines, but for definitions.
    ('[targets.linux-x64]\ndefine = { A = "one\\ntwo" }', ""),
    ('[targets.linux-x64]\ntoolchain = "ho\\nst"', "has line breaks or control characters"),
    ('[package.two]\ncomponent = "t\\two"\nnuget = { id = "Two" }', "has line breaks or control characters"),
    (f'{TWO}nuget = {{ id = "A{"b" * 99}" }}', ""),
    (f'{TWO}nuget = {{ id = "A{"b" * 100}" }}', "must have at most 100 characters"),
]  # fmt: skip


def refusals(folder, text):
    """What is said against a configuration; "" when nothing is."""
    try:
        load(write_client(folder, latebind=text) / "latebind.toml")
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("added", "problem"), TABLE)
def test_what_is_added_to_a_configuration_is_accepted_or_named(tmp_path, added, problem):
    said = refusals(tmp_path, f"{BOUND}\n{added}\n")
    assert problem in said
    assert bool(said) is bool(problem)


@pytest.mark.parametrize(
    ("wheel", "runtime", "problem"),
    [
        ("", True, ""),
        ('extras = "channels"', True, ""),
        ('runtime = "required"', True, ""),
        ('runtime = "none"', True, ""),
        ('extras = "channels", runtime = "none"', True, ""),
        ('extras = "channels", runtime = "required"', True, "has extras that install another one over it"),
        ('extras = "channels"', False, "package tiny asks for extras but binds no runtime"),
        ('runtime = "required"', False, "package tiny asks for a required runtime but binds no runtime"),
    ],
)
def test_a_wheel_gets_its_runtime_in_one_way(tmp_path, wheel, runtime, problem):
    text = BOUND.replace(WHEEL, f'wheel = {{ source = "python/tiny"{f", {wheel}" * bool(wheel)} }}')
    text = text if runtime else text.replace('runtime = "onnxruntime"\n', "").partition("[[runtime]]")[0]
    said = refusals(tmp_path, text)
    assert problem in said
    assert bool(said) is bool(problem)


@pytest.mark.parametrize(("minimum", "refused"), [("1.18", True), ("1.19", False), ("1.20", False), ("1.25", False)])
def test_a_minimum_is_not_below_the_floor_of_a_preset(tmp_path, minimum, refused):
    assert bool(refusals(tmp_path, BOUND.replace('"1.20"', f'"{minimum}"'))) is refused


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ('cmake = "top"', "cmake"),
        ('sources = { fmt = "x" }', "sources"),
        ('define = { A = "1" }', "define"),
        ("hide = true", "hide"),
        ("", ""),
    ],
)
def test_a_build_of_ones_own_has_settings_of_its_own(tmp_path, setting, key):
    text = BOUND.replace('source = "native"', f'source = "native"\nbuild = "external"\n{setting}')
    problem = f'native.{key} has no effect with build = "external"'
    assert (problem in refusals(tmp_path, text)) is bool(key)


@pytest.mark.parametrize(
    ("version", "scale", "accepted"),
    [
        ("text", "", True),
        ("text", "[10000, 100, 1]", True),
        ("text", "[100, 10000, 1]", False),
        ("integer", "", False),
        ("integer", "[10000, 100, 1]", True),
        ("integer", "[100, 1]", True),
        ("integer", "[1]", False),
        ("integer", "[100, 100, 1]", False),
        ("integer", "[4294967295, 1]", True),
        ("integer", "[4294967296, 1]", False),
        ("integer", "[5000000000, 1]", False),
        ("three-numbers", "", True),
    ],
)
def test_a_version_as_a_number_has_a_falling_scale(tmp_path, version, scale, accepted):
    text = DESCRIBED.replace('version = "text"', f'version = "{version}"{f"{chr(10)}scale = {scale}" * bool(scale)}')
    said = refusals(tmp_path, BOUND.partition("[[runtime]]")[0].replace('"onnxruntime"', '"thing"') + text)
    assert ("falling numbers as its scale" in said) is (not accepted), said


@pytest.mark.parametrize(
    ("title", "accepted"),
    [("The Thing", True), ("Thing 2 (x86)", True), (r"The \"Thing\"", False), ("The * Thing", False)],
)
def test_a_title_is_plain_text(tmp_path, title, accepted):
    text = DESCRIBED.replace('"The Thing"', f'"{title}"')
    said = refusals(tmp_path, BOUND.partition("[[runtime]]")[0].replace('"onnxruntime"', '"thing"') + text)
    assert bool(said) is not accepted


@pytest.mark.parametrize(
    ("folder", "accepted"),
    [("thing/lib", True), ("thing", True), ("", False), ("/thing", False), ("../x", False), ("a;b", False)],
)
def test_a_runtime_is_below_site_packages(tmp_path, folder, accepted):
    text = DESCRIBED.replace('folder = "thing/lib"', f'folder = "{folder}"')
    said = refusals(tmp_path, BOUND.partition("[[runtime]]")[0].replace('"onnxruntime"', '"thing"') + text)
    assert ("is not a folder below site-packages" in said) is not accepted


@pytest.mark.parametrize(
    ("minimum", "excepted", "supported", "refused"),
    [
        ("1.23", (), "1.23 or newer", ""),
        ("1.23.0", (), "1.23.0 or newer", ""),
        ("1.23.2", (), "1.23.2 or newer", "1.23.0,1.23.1"),
        ("1.23.1", ("1.24.1", "1.25"), "1.23.1 or newer, but not 1.24.1, 1.25", "1.23.0,1.24.1,1.25"),
    ],
)
def test_a_provider_says_which_releases_it_supports_and_refuses(minimum, excepted, supported, refused):
    provider = EpConfig(id="x", names=("XExecutionProvider",), minimum=minimum, excepted=excepted)
    assert provider.supported == supported
    assert provider.definitions("2.0.0") == [
        "MINIMUM=23", f'EXCEPT="{refused}"', 'NAME="XExecutionProvider"', 'VERSION="2.0.0"', f'RANGE="{supported}"',
    ]  # fmt: skip


def test_each_package_binds_its_own_runtime(tmp_path):
    two = f'{TWO}runtime = "openvino"\nnuget = {{ id = "Two" }}\n'
    three = f'{TWO.replace("two", "three")}nuget = {{ id = "Three" }}\n'
    config = load(write_client(tmp_path, latebind=BOUND + SECOND + two + three) / "latebind.toml")
    names = {name: (used := config.runtime_of(name)) and used.name for name in config.packages}
    assert names == {"tiny": "onnxruntime", "two": "openvino", "three": None}


@pytest.mark.parametrize(
    ("text", "advice"),
    [("include = []", "Write at least one value."), ('include = "linux-x64"', "must be"), ("include = [5]", "must be")],
)
def test_a_value_of_another_kind_is_told_apart_from_an_empty_one(tmp_path, text, advice):
    said = refusals(tmp_path, BOUND.replace('include = ["linux-x64"]', text))
    assert advice in said
    assert ("Write at least one value." in said) is (text == "include = []")


def test_a_package_is_not_made_where_it_is_excluded_or_its_runtime_does_not_exist(tmp_path):
    text = BOUND.replace('["linux-x64"]', '["linux-x64", "linux-musl-x64", "osx-arm64", "win-x64"]')
    text = f'{text}\n{TWO}nuget = {{ id = "Two" }}\n[targets.win-x64]\nexclude = ["tiny"]\n'
    config = load(write_client(tmp_path, latebind=text) / "latebind.toml")
    rids = ("linux-x64", "linux-musl-x64", "osx-arm64", "win-x64")
    assert [config.explain_not_made("tiny", rid) for rid in rids] == [
        "",
        "ONNX Runtime exists for glibc only, but linux-musl-x64 uses musl",
        "",
        "[targets.win-x64] of latebind.toml excludes tiny",
    ]
    assert [config.explain_not_made("two", rid) for rid in rids] == [""] * 4
