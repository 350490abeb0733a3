"""The versions of JARs: those that Maven orders as PEP 440 does are kept, and others are refused."""

import itertools
import os
import re
from pathlib import Path

import pytest
from packaging.version import Version

from latebind.config.file import load
from latebind.ecosystems.maven.programs import find_jdk
from latebind.errors import LatebindError, NotRun
from latebind.pack.planned import plan_packages
from tests.support.client import CONFIG, write_client
from tests.support.needs import require_programs
from tests.support.running import run_checked

TABLE = 'maven = { group = "io.github.acme", name = "tiny" }\n'
SUFFIXES = ("a0", "a1", "a2", "a10", "b1", "rc1", "rc1.post1", "rc2", "", ".post1", ".post2", ".post10")
KEPT = [f"{release}{suffix}" for release in ("1.0", "1.0.1", "1.1", "2", "99999999999.0") for suffix in SUFFIXES]


def plan(folder, version, table=TABLE):
    text = CONFIG.replace("1.2.3", version).replace('nuget = { id = "Tiny" }\n', "") + table
    config = load(write_client(folder, latebind=text) / "latebind.toml")
    return plan_packages(config, ["linux-x64"]).files


@pytest.mark.parametrize(
    ("version", "message", "advice"),
    [
        ("1.0.dev1", "has a development number, which Maven orders differently", "or 1.2.3a1 for a prerelease."),
        ("1.0rc1.dev1", "has a development number", "Use the form 1.2.3"),
        ("1!1.0", "has an epoch", "Use the form 1.2.3"),
        ("1.0+local", "has a local part", "Use the form 1.2.3"),
        ("1.0c1", "1.0c1 is another spelling of 1.0rc1", 'Write version = "1.0rc1".'),
        ("1.0-preview1", "1.0-preview1 is another spelling of 1.0rc1", 'Write version = "1.0rc1".'),
    ],
)
def test_a_version_that_maven_orders_differently_is_refused_where_it_is_written(tmp_path, version, message, advice):
    with pytest.raises(LatebindError, match=message) as refused:
        plan(tmp_path, version)
    assert refused.value.where == "latebind.toml: project.version"
    assert advice in refused.value.advice
    assert version not in KEPT


def test_a_development_version_without_a_jar_and_a_pre_release_with_one_are_kept(tmp_path):
    assert {file.kind for file in plan(tmp_path / "dev", "1.0.dev1", table="")} == {"wheel", "sdist"}
    assert {file.file for file in plan(tmp_path / "a1", "1.0a1") if file.kind == "jar"} == {"tiny-1.0a1.jar"}


def test_maven_orders_every_version_that_is_kept_as_pep_440_does():
    java, mvn = require_programs("java", "mvn")
    jars = Path(mvn).resolve().parents[1].joinpath("lib").glob("*.jar")
    command = [java, "-cp", os.pathsep.join(map(str, jars)), "org.apache.maven.artifact.versioning.ComparableVersion"]
    versions = sorted(KEPT, key=Version)
    printed = run_checked(*command, *versions, "1.0", "1.0.dev1")
    for older, newer in itertools.pairwise(versions):
        assert f"   {older} < {newer}\n" in printed
    assert "   1.0 < 1.0.dev1\n" in printed


@pytest.mark.parametrize(
    ("printed", "message"),
    [("javac 1.8.0_412", "is from Java 8"), ("javac 17.0.2", "is from Java 17"), ("?", "does not report its version")],
)
def test_an_older_jdk_is_named_by_its_version(tmp_path, printed, message):
    compiler = tmp_path / "bin" / "javac"
    compiler.parent.mkdir()
    compiler.write_text(f"#!/bin/sh\necho '{printed}'\n")
    compiler.chmod(0o755)
    with pytest.raises(NotRun, match=f"Java 22 or newer is needed, but {re.escape(str(compiler))} {message}"):
        find_jdk(22, {"JAVA_HOME": str(tmp_path)})
