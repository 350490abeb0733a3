"""What a project promises to an audit, and how its packages are compared: tables without a package."""

from dataclasses import replace

import pytest

from latebind.checks.policy import BindingPolicy, project_policy, runtimes_named
from latebind.checks.projects import twin_lacks, twins_differ
from latebind.config.file import load
from latebind.errors import InputError
from latebind.tables.presets import preset
from loadcheck.api import Skip
from loadcheck.facts import TwinFacts
from tests.support.client import BOUND, SEVERAL, write_client

ORT, OPENVINO = preset("onnxruntime"), preset("openvino")
POLICY = project_policy(load(SEVERAL))


def test_each_package_binds_what_the_configuration_says_in_every_ecosystem():
    assert POLICY.bound == {
        **dict.fromkeys(
            ("several-onnxruntime", "Several.OnnxRuntime", "@several/onnxruntime", "org.acme:several-onnxruntime"),
            "onnxruntime",
        ),
        **dict.fromkeys(("several-openvino", "Several.OpenVino"), "openvino"),
        **dict.fromkeys(("several-litert", "Several.LiteRt"), "litert"),
    }
    assert POLICY.minimums == {"onnxruntime": "1.19", "openvino": "2025.1", "litert": "2.2"}


def test_packages_of_one_name_are_twins_and_a_package_of_one_kind_is_none():
    assert [set(names) for names in POLICY.twins] == [
        {"wheel", "nupkg", "npm", "jar"}, {"wheel", "nupkg", "npm", "jar"}, *[{"wheel", "nupkg"}] * 3,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wheel", "apart", "requiring"),
    [("", False, False), (', runtime = "none"', True, False), (', runtime = "required"', False, True)],
)
def test_a_wheel_requires_its_runtime_or_leaves_it_to_the_user(tmp_path, wheel, apart, requiring):
    text = BOUND.replace('source = "python/tiny"', f'source = "python/tiny"{wheel}').replace(
        'nuget = { id = "Tiny" }', ""
    )
    policy = project_policy(load(write_client(tmp_path, latebind=text) / "latebind.toml"))
    assert ("tiny" in policy.apart, "tiny" in policy.requiring) == (apart, requiring)
    assert policy.must_require("tiny", ORT) is not apart
    assert not policy.must_require("tiny", OPENVINO)
    assert not policy.must_require("other", ORT)
    assert policy.twins == ()


def test_a_package_of_an_sdk_alone_has_no_twin(tmp_path):
    text = BOUND.replace('wheel = { source = "python/tiny" }\nnuget = { id = "Tiny" }', "sdk = true")
    assert project_policy(load(write_client(tmp_path, latebind=text) / "latebind.toml")).twins == ()


@pytest.mark.parametrize(
    ("file", "project", "globs"),
    [
        ("libx.so", "tiny", ("a_*",)),
        ("libx.so", "TINY", ("a_*",)),
        ("libtiny.so", "other", ("b_*",)),
        ("libtiny.so", "", ("b_*",)),
        ("libx.so", "other", None),
        ("libx.so", "", None),
    ],
)
def test_exports_are_those_of_the_file_or_of_its_package(file, project, globs):
    policy = BindingPolicy(exports={"tiny": ("a_*",), "libtiny.*": ("b_*",)})
    assert policy.allowed_exports(file, project) == globs


@pytest.mark.parametrize(
    ("distribution", "library", "may"),
    [
        ("onnxruntime", "libconfig.so.9", False),
        ("onnxruntime-gpu", "libcudart.so.12", False),
        ("onnxruntime", "@rpath/libonnxruntime.1.dylib", True),
        ("openvino", "libtbb.so.12", True),
        ("openvino", "libonnxruntime.so.1", False),
        ("ai-edge-litert", "libLiteRt.so", True),
        ("numpy", "libconfig.so.9", True),
    ],
)
def test_a_runtimes_distribution_brings_what_the_preset_knows(distribution, library, may):
    assert BindingPolicy().may_bring(distribution, library) is may
    assert BindingPolicy(runtimes=()).may_bring(distribution, library), "nobody knows what it has"


DESCRIBED = 'name = "thing"\nentry_symbols = ["t"]\nfile_globs = ["libt*"]\nlinked_globs = ["libt*"]\n'


def test_a_runtime_is_a_preset_or_a_file(tmp_path):
    (tmp_path / "thing.toml").write_text(DESCRIBED, encoding="utf-8")
    ours, known = runtimes_named(["thing.toml", "onnxruntime", "onnxruntime"], tmp_path)
    assert (ours.name, ours.title, ours.built, ours.environment) == ("thing", "thing", "", "")
    assert known == ORT


@pytest.mark.parametrize(
    ("text", "why", "advice"),
    [
        (DESCRIBED + 'file_glob = "x"\n', "'file_glob' is not a key of a runtime", "Did you mean 'file_globs'?"),
        (DESCRIBED + 'zz = "x"\n', "'zz' is not a key of a runtime", "Did you mean "),
        ('name = "thing"\n', "lacks entry_symbols, file_globs, linked_globs", "Set name, entry_symbols"),
        (DESCRIBED.replace('["t"]', "5"), "does not describe a runtime", ""),
        ("= =", "is not valid TOML", ""),
        (None, "cannot be read: No such file", ""),
    ],
)
def test_a_file_that_describes_no_runtime_is_refused(tmp_path, text, why, advice):
    if text is not None:
        (tmp_path / "thing.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=why) as caught:
        runtimes_named(["thing.toml"], tmp_path)
    assert advice in caught.value.advice


# ---- twins

LINUX = {"linux-x64": {"libtiny.so": ("tiny/libtiny.so", "1")}}
WHEEL = TwinFacts(subject="tiny.whl", kind="wheel", project="tiny", version="1.0", native=LINUX, id="tiny")
NUPKG = TwinFacts(subject="Tiny.nupkg", kind="nupkg", project="Tiny", version="1.0", native=LINUX, id="Tiny")
SDK = TwinFacts(subject="tiny-sdk.zip", kind="sdk", project="tiny-sdk", version="1.0", native=LINUX, id="tiny-sdk")


def give(package, digest="1", rid="linux-x64", **more):
    """The same package with another library."""
    return replace(package, native={rid: {"libtiny.so": (f"{package.kind}/libtiny.so", digest)}}, **more)


@pytest.mark.parametrize(
    ("packages", "differ"),
    [
        ([WHEEL, NUPKG], []),
        ([WHEEL, give(NUPKG, "0")], ["nupkg linux-x64"]),
        ([WHEEL, give(NUPKG, "2")], ["nupkg linux-x64"]),
        ([give(NUPKG, "2"), WHEEL], ["nupkg linux-x64"]),
        ([WHEEL, give(NUPKG, "2", version="0.9")], []),
        ([WHEEL, give(NUPKG, "2", version="1.1")], []),
        ([WHEEL, give(NUPKG, "2", version="1.0.0")], ["nupkg linux-x64"]),
        ([WHEEL, give(NUPKG, "2", rid="win-x64")], []),
        ([WHEEL, give(NUPKG, "2", project="Other")], []),
        ([WHEEL, give(SDK, "2")], ["wheel linux-x64"]),
        ([WHEEL, give(SDK, "2", version="0.9")], []),
        ([WHEEL, give(SDK, "2", version="1.1")], []),
        ([WHEEL, SDK, NUPKG], []),
    ],
)
def test_packages_of_one_version_have_the_same_libraries(packages, differ):
    assert [hit.cause for hit in twins_differ.run(packages, BindingPolicy())] == differ


def test_only_libraries_that_both_have_are_compared():
    more = replace(NUPKG, native={"linux-x64": {**LINUX["linux-x64"], "libmore.so": ("x/libmore.so", "9")}})
    assert list(twins_differ.run([WHEEL, more], BindingPolicy())) == []
    (lacking,) = twin_lacks.run([WHEEL, more], BindingPolicy())
    assert (lacking.cause, lacking.inner) == ("wheel linux-x64", "x/libmore.so")
    assert lacking.evidence == ("tiny.whl has for linux-x64: libtiny.so",)
    (lost,) = twin_lacks.run([WHEEL, replace(NUPKG, native={})], BindingPolicy())
    assert (lost.cause, lost.evidence) == ("nupkg linux-x64", ("Tiny.nupkg has for linux-x64: nothing",))


def test_a_target_without_a_wheel_in_the_audit_is_not_judged():
    windows = {"win-x64": {"tiny.dll": ("tiny.dll", "1")}}
    both = replace(NUPKG, native={**LINUX, **windows})
    (skip,) = twin_lacks.run([WHEEL, both], BindingPolicy())
    assert (type(skip), skip.inner, skip.reason) == (Skip, "Tiny.nupkg", "this audit includes no wheel for win-x64")
    other = replace(WHEEL, subject="tiny-win.whl", native=windows)
    assert list(twin_lacks.run([WHEEL, other, both], BindingPolicy())) == []


def test_parts_of_a_split_package_are_one_whole():
    windows = {"win-x64": {"tiny.dll": ("tiny.dll", "1")}}
    part = replace(NUPKG, subject="Tiny.runtime.win-x64.nupkg", id="Tiny.runtime.win-x64", native=windows)
    other = replace(WHEEL, subject="tiny-win.whl", native=windows)
    assert list(twin_lacks.run([WHEEL, other, NUPKG, part], BindingPolicy())) == []
    assert list(twin_lacks.run([WHEEL, other, part, NUPKG], BindingPolicy())) == []


@pytest.mark.parametrize(
    ("names", "packages", "missed"),
    [
        ({"wheel": "tiny", "nupkg": "Tiny"}, [WHEEL, NUPKG], []),
        ({"wheel": "tiny", "nupkg": "Tiny"}, [WHEEL], ["Tiny"]),
        ({"wheel": "other", "nupkg": "Other"}, [WHEEL, NUPKG], []),
        ({"wheel": "tiny", "nupkg": "Tiny", "npm": "t"}, [WHEEL, NUPKG], ["t", "t"]),
    ],
)  # fmt: skip
def test_twins_that_the_configuration_names_are_missed(names, packages, missed):
    assert [skip.reason for skip in twin_lacks.run(packages, BindingPolicy(twins=(names,)))] == [
        f"this audit does not include {name}, which promises the same library" for name in missed
    ]
