"""LB414 next to NuGet itself, whose own rules judge the same packages."""

import re
import zipfile

import pytest

from corpus.cases.nugetrules import CASES
from corpus.packages import Bench
from latebind.compilers import dotnet
from latebind.system.run import run
from loadcheck.api import Policy, audit_here
from tests.support.needs import dotnet_environment

PROGRAM = """\
using System;
using System.Linq;
using NuGet.Packaging;
using NuGet.Packaging.Rules;

static class Program
{
    static void Main(string[] paths)
    {
        foreach (var path in paths)
            using (var package = new PackageArchiveReader(path))
                foreach (var rule in RuleSet.PackageCreationRuleSet)
                    foreach (var message in rule.Validate(package))
                        Console.WriteLine($"{path} {message.Code}");
    }
}
"""
PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><OutputType>Exe</OutputType><TargetFramework>{framework}</TargetFramework></PropertyGroup>
  <ItemGroup><Reference Include="{sdk}/NuGet.*.dll" /><Reference Include="{sdk}/Newtonsoft.Json.dll" /></ItemGroup>
</Project>
"""
OURS = {case.what for case in CASES if not re.fullmatch(r"NU50(30|38|39|4\d)", case.what)}
"""Without what NuGet refuses to write: it has no rule for packages that have it."""


@pytest.fixture(scope="module")
def nuget(tmp_path_factory):
    """Judges packages by the rules in the SDK's own NuGet: codes by path."""
    folder = tmp_path_factory.mktemp("rules")
    environment = dotnet.private(dotnet_environment(), folder / "home")
    version = dotnet.sdk_version(environment, folder)
    sdk = dotnet.find(environment).resolve().parent / "sdk" / version
    text = PROJECT.format(framework=dotnet.own_framework(version), sdk=sdk)
    (folder / "rules.csproj").write_text(text, encoding="utf-8")
    (folder / "rules.cs").write_text(PROGRAM, encoding="utf-8")
    dotnet.write_nuget_config(folder / "NuGet.config", [])
    run([dotnet.find(environment), "build", "--nologo", "-o", folder / "out"], cwd=folder, env=environment, timeout=300)

    def judge(paths):
        argv = [dotnet.find(environment), folder / "out" / "rules.dll", *paths]
        ended = run(argv, cwd=folder, env=environment, timeout=120)
        codes = {path: set() for path in map(str, paths)}
        for path, code in re.findall(r"^(.+) (NU\d+)$", ended.output, re.MULTILINE):
            codes[path].add(code)
        return codes

    return judge


def ours(path):
    report = audit_here([path], Policy())
    return {finding.message[:6] for finding in report.findings if finding.code == "LB414"}


def test_the_same_rules_are_broken_by_nugets_own_judgement(nuget, compiler, tmp_path):
    paths = []
    for number, case in enumerate(CASES):
        for name, make in (("bad", case.bad), ("good", case.good)):
            folder = tmp_path / f"{number}-{case.what}-{name}"
            folder.mkdir()
            paths += make(Bench(compiler, folder))
    theirs = nuget(paths)
    differences = [
        f"{path.parent.name}: {' '.join(sorted(ours(path) & OURS))} here, {' '.join(sorted(nuget_codes))} there"
        for path in paths
        if ours(path) & OURS != (nuget_codes := theirs[str(path)] & OURS)
    ]
    assert not differences, "\n".join(differences)
    assert set().union(*theirs.values()) >= OURS
    assert all(zipfile.is_zipfile(path) for path in paths)
