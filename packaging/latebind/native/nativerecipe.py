"""Makes the recipe of a project's native code: what its configuration says of a build, with presets resolved."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from latebind.backend.cmake import DESCRIBED, hash_native
from latebind.backend.recipe import NativeRecipe, StubRecipe, TargetRecipe
from latebind.backend.targets import targets
from latebind.backend.tree import hash_file, hash_tree, list_tree
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.config.runtime import RuntimeUse
from latebind.native.loadersource import described_texts
from latebind.native.sources import native_files
from latebind.native.stublibrary import StubSource, name_stub, stub_source, stub_texts
from latebind.semver import semantic_version
from latebind.system.log import LOG
from latebind.system.resources import cmake_dir


def native_recipe(config: Config) -> NativeRecipe:
    """What a build needs of a configuration."""
    native, runtimes = config.document.native, config.document.runtime
    late = {
        f"LATEBIND_{key}_{runtime.name}": getattr(runtime, key.lower())
        for key in ("MINIMUM", "PRIORITY")
        for runtime in runtimes
    }
    return NativeRecipe(
        version=config.project.version,
        cmake=native.cmake,
        hashed=_list_hashed(config),
        loader=hash_tree(cmake_dir(), modes=False),
        module_kind=config.module_kind,
        variables=late | _providers(config),
        is_described=any(runtime.describe for runtime in runtimes),
        sources=native.sources,
        exports=";".join(dict.fromkeys(name for package in config.packages.values() for name in package.exports))
        if native.hide
        else "",
        stubs=tuple(
            StubRecipe(
                name=runtime.name,
                title=runtime.traits.title,
                minimum=runtime.minimum,
                names=name_stub(runtime),
                headers=runtime.headers,
            )
            for runtime in runtimes
            if runtime.drop_in
        ),
        targets={
            rid: TargetRecipe(
                floor=config.floor(target), toolchain=config.toolchain(rid), define=config.definitions(rid)
            )
            for rid, target in targets().items()
        },
    )


def hash_sources(project: Project) -> str:
    """A hash of everything that the native files are made from, except the compiler: sources, loader, settings."""
    config = project.config
    return hash_native(native_recipe(config), config.native_source, native_files(project))


def generate_files(config: Config) -> dict[str, str]:
    """What a build compiles besides the sources and the loader, as an sdist has it: descriptions of runtimes, stubs.

    Raises LatebindError, and NotRun when a stub's functions are to be read from a header and there is no zig.
    """
    texts = describe_runtimes(config)
    for runtime in config.document.runtime:
        if runtime.drop_in:
            stub = stub_texts(cmake_dir(), find_stub(config, runtime))
            texts |= {f"stubs/{runtime.name}/{name}": text for name, text in stub.items()}
    return texts


def find_stub(config: Config, runtime: RuntimeUse) -> StubSource:
    """What the stub of a project's runtime is made of. Raises as generate_files()."""
    source, notes = stub_source(runtime, config.native_source)
    for note in notes:
        LOG.detail(note)
    return source


def describe_runtimes(config: Config) -> dict[str, str]:
    """The files that describe the project's own runtimes, for the build: text by name."""
    return {f"{DESCRIBED}/{name}": text for name, text in described_texts(config).items()}


def list_loader(config: Config) -> list[Path]:
    """The loader's files that builds of a project read: not what generates it, nor what is for other runtimes.

    Each runtime that the loader knows has a header and a source. The stub of ONNX Runtime is a target of every project.
    """
    loader, runtimes = cmake_dir(), config.document.runtime
    known = {path.stem for path in (loader / "include" / "latebind").glob("*.h")}
    others = {name for name in known if (loader / "src" / f"{name}.c").is_file()}
    others -= {"onnxruntime", *(runtime.name for runtime in runtimes)}
    unread = {loader / "tables", loader / "README.md"} | (
        set() if any(use.drop_in for use in runtimes) else {loader / "stub"}
    )
    unread |= {loader / name for other in others for name in (f"include/latebind/{other}.h", f"src/{other}.c")}
    return [path for path in list_tree(loader) if not unread & {path, *path.parents}]


def _providers(config: Config) -> dict[str, str]:
    """CMake's variables for the execution providers of ONNX Runtime."""
    providers = {name: package.ep for name, package in config.packages.items() if package.ep}
    if not providers:
        return {}
    version = semantic_version(config.project.version)
    return {f"LATEBIND_EP_{name}": ";".join(ep.definitions(version)) for name, ep in providers.items()}


def _list_hashed(config: Config) -> str:
    """What native files depend on besides the recipe and the native code."""
    hashed = {
        "sources": {
            name: _hash_path(config.native_source / path) for name, path in config.document.native.sources.items()
        },
        "described": [msgspec.to_builtins(runtime.describe) for runtime in config.document.runtime if runtime.describe],
        "components": sorted({package.component for package in config.packages.values()}),
    }
    return json.dumps(hashed, sort_keys=True)


def _hash_path(path: Path) -> str:
    """A hash of an archive or a folder of native.sources: `exclude` may keep it out of the sdist."""
    return hash_tree(path, modes=False) if path.is_dir() else hash_file(path)
