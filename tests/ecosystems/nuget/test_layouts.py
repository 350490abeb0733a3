"""What must hold of an application that uses nupkgs: each proof on folders of small files, good ones and bad ones."""

import zipfile
from dataclasses import MISSING, fields, replace

import pytest

from latebind.ecosystems.nuget import layouts
from latebind.ecosystems.nuget.layouts import LAYOUTS, OLDER_FRAMEWORK, Application, Layout
from tests.conftest import ROOT

GOLDEN = ROOT / "tests/golden/layouts.txt"
"""How each application is made, and what must hold of it. Changing it changes what a passed test case says."""
CORE, EXTRA = "runtimes/linux-x64/native/libcore.so", "runtimes/linux-x64/native/libextra.so"
PACKAGES = {
    "Demo.1.0.0.nupkg": {
        CORE: "core",
        "runtimes/linux-arm64/native/libcore.so": "core for arm64",
        "runtimes/linux-arm64/native/libarm.so": "for arm64 alone",
        "runtimes/win-x64/native/core.dll": "core for Windows",
        "runtimes/any.txt": "not native",
        "lib/net8.0/Demo.dll": "newer",
        "lib/netstandard2.0/Demo.dll": "older",
        "lib/net8.0/Demo.xml": "no assembly",
    },
    "Demo.Extra.1.0.0.nupkg": {EXTRA: "extra"},
}
GOOD = {"libcore.so": "core", "libextra.so": "extra", "Demo.dll": "newer", "App.dll": "the application"}
"""The files of an application that is as it should be."""


@pytest.fixture
def seen(tmp_path):
    """An application that is as it should be, whose libraries came out of NuGet's package folder."""
    cache, out = tmp_path / "cache", tmp_path / "out"
    for name, members in PACKAGES.items():
        home = cache / name.lower().replace(".1.0.0.nupkg", "") / "1.0.0"
        home.mkdir(parents=True)
        (tmp_path / "feed").mkdir(exist_ok=True)
        for place in (tmp_path / "feed" / name, home / name.lower()):
            with zipfile.ZipFile(place, "w") as archive:
                for path, text in members.items():
                    archive.writestr(zipfile.ZipInfo(path), text)
    out.mkdir()
    for name, text in GOOD.items():
        (out / name).write_text(text, encoding="utf-8")
    return Application(
        packages=sorted((tmp_path / "feed").iterdir()),
        rid="linux-x64",
        out=out,
        cache=cache,
        libraries=(f"{cache}/demo/1.0.0/{CORE}", f"{cache}/demo.extra/1.0.0/{EXTRA}"),
        parts=2,
        framework=OLDER_FRAMEWORK,
    )


def load_from(seen, *paths, **more):
    """The same application with other libraries, by their place in the test's folder."""
    return replace(seen, libraries=tuple(str(seen.out.parent / path) for path in paths), **more)


def write_out(seen, files):
    """Change files of the application: their text, or None for none."""
    for name, text in files.items():
        (path := seen.out / name).parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text, encoding="utf-8")
    return seen


def test_a_good_application_passes_every_proof_that_suits_it(seen):
    assert layouts.from_the_packages(seen) == []
    assert layouts.apart(seen) == []
    assert layouts.files_of_the_rid(seen) == []
    assert layouts.older_assembly(seen) == []
    assert layouts.next_to_it(load_from(seen, "out/libcore.so", "out/libextra.so")) == []
    assert layouts.one_program(write_out(seen, {"Demo.dll": None})) == []


def test_only_what_nuget_took_from_the_feed_is_compared_with_it(seen):
    (seen.cache / "demo.extra/1.0.0/demo.extra.1.0.0.nupkg").unlink()
    assert layouts.from_the_packages(seen) == []
    (seen.cache / "demo/1.0.0/demo.1.0.0.nupkg").write_text("another build", encoding="utf-8")
    assert layouts.from_the_packages(seen) == ["NuGet installed a Demo.1.0.0.nupkg that differs from the packed one"]


IN_CORE, IN_EXTRA = f"cache/demo/1.0.0/{CORE}", f"cache/demo.extra/1.0.0/{EXTRA}"


@pytest.mark.parametrize(
    ("paths", "parts", "wrong"),
    [
        ((IN_CORE, IN_EXTRA), 2, []),
        ((IN_CORE,), 1, []),  # a library that was not needed
        ((IN_CORE, IN_EXTRA, "other/libc.so"), 2, []),
        ((), 2, ["native libraries came from 0 packages instead of 2: none"]),
        ((IN_CORE,), 2, ["native libraries came from 1 package instead of 2: {0}/cache/demo/1.0.0"]),
        (
            (IN_CORE, IN_EXTRA),
            1,
            ["native libraries came from 2 packages instead of 1: {0}/cache/demo.extra/1.0.0, {0}/cache/demo/1.0.0"],
        ),
        (
            (IN_CORE, f"cache/demo/1.0.0/{EXTRA}"),
            2,
            ["native libraries came from 1 package instead of 2: {0}/cache/demo/1.0.0"],
        ),
        (
            (IN_CORE, "out/libextra.so"),
            2,
            [
                "libextra.so was not loaded from a package in {0}/cache",
                "native libraries came from 1 package instead of 2: {0}/cache/demo/1.0.0",
            ],
        ),
        (("cache-of-others/runtimes/libcore.so",), 0, ["libcore.so was not loaded from a package in {0}/cache"]),
        (("cache/demo/libcore.so",), 0, ["libcore.so was not loaded from a package in {0}/cache"]),
        (("out/core.dll", "out/libarm.so"), 0, []),  # of other targets
    ],
)  # fmt: skip
def test_each_library_comes_out_of_its_own_package(seen, paths, parts, wrong):
    folder = str(seen.out.parent)
    assert layouts.apart(load_from(seen, *paths, parts=parts)) == [text.replace("{0}", folder) for text in wrong]


@pytest.mark.parametrize(
    ("files", "loaded", "wrong"),
    [
        ({}, ("libcore.so",), []),
        ({}, (), []),
        ({"libextra.so": None}, ("libcore.so",),
         ["libextra.so is missing; it should come from Demo.Extra.1.0.0.nupkg!" + EXTRA]),
        ({"libcore.so": "core for arm64"}, ("libcore.so",), ["libcore.so differs from Demo.1.0.0.nupkg!" + CORE]),
        ({}, ("../lib/libcore.so",), ["libcore.so was not loaded from the application's folder"]),
        ({"libcore.so": None}, ("../lib/libcore.so",),
         ["libcore.so is missing; it should come from Demo.1.0.0.nupkg!" + CORE]),
    ],
)  # fmt: skip
def test_native_libraries_are_copied_next_to_the_application_and_loaded_from_there(seen, files, loaded, wrong):
    application = write_out(load_from(seen, *(f"out/{name}" for name in loaded)), files)
    assert layouts.next_to_it(application) == wrong


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        ({"Demo.dll": "older"}, []),
        ({"libcore.so": None}, ["libcore.so is missing; it should come from Demo.1.0.0.nupkg!" + CORE]),
        ({"libextra.so": "damaged"}, ["libextra.so differs from Demo.Extra.1.0.0.nupkg!" + EXTRA]),
        ({"Demo.dll": "damaged"}, ["Demo.dll differs from Demo.1.0.0.nupkg!lib/net8.0/Demo.dll"]),
        ({"Demo.dll": None}, ["Demo.dll is missing; it should come from Demo.1.0.0.nupkg!lib/net8.0/Demo.dll"]),
        ({"core.dll": "core for Windows"}, ["core.dll is of another RID"]),
        ({"deep/core.dll": "core for Windows"}, ["deep/core.dll is of another RID"]),
        ({"runtimes/win-x64/native/core.dll": ""}, ["runtimes/win-x64/native/core.dll is of another RID"]),
        ({"runtimes/linux-x64/native/x": ""}, ["runtimes/linux-x64/native/x is of another RID"]),
        ({"Demo.xml": "", "any.txt": ""}, []),
    ],
)
def test_an_application_for_a_rid_has_its_files_and_no_others(seen, files, wrong):
    assert layouts.files_of_the_rid(write_out(seen, files)) == wrong


def test_packages_without_a_native_file_for_the_rid_are_wrong(seen):
    other = replace(seen, rid="osx-arm64")
    assert layouts.files_of_the_rid(other)[0] == "no package has a native file for osx-arm64"
    assert "libcore.so is of another RID" in layouts.files_of_the_rid(other)


def test_assemblies_are_inside_a_single_file(seen):
    assert layouts.one_program(seen) == ["Demo.dll is next to the program, not inside it"]


@pytest.mark.parametrize(
    ("framework", "named"),
    [
        (".NETStandard,Version=v2.1", ".NETStandard,Version=v2.1"),
        (".NETCoreApp,Version=v8.0", ".NETCoreApp,Version=v8.0"),
        ("net8.0", "net8.0"),
        ("", "an unknown framework"),
    ],
)
def test_an_assembly_for_another_framework_is_not_the_older_one(seen, framework, named):
    wrong = layouts.older_assembly(replace(seen, framework=framework))
    assert wrong == [f"an assembly for {named} was loaded, not one for {OLDER_FRAMEWORK}"]


def describe(one):
    """The fields of a layout that differ from their defaults."""
    told = [(field.name, getattr(one, field.name)) for field in fields(one) if field.default is not MISSING or
            field.name == "properties"]  # fmt: skip
    defaults = {field.name: field.default for field in fields(Layout)} | {"properties": {}}
    lines = [f"  {name}: {value!r}" for name, value in told if name != "proofs" and value != defaults[name]]
    return "\n".join([f"{one.name}: {one.title}", *lines, f"  proofs: {' '.join(p.__name__ for p in one.proofs)}"])


def test_how_each_application_is_made_and_what_must_hold_of_it():
    text = "\n".join(map(describe, LAYOUTS)) + "\n"
    assert text == GOLDEN.read_text("utf-8"), "a test case demands something else: check it, and change the table"
