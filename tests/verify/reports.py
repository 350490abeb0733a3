"""Reports for tests: small ones of known test cases, and a large one such as many machines make together."""

from latebind.backend.targets import Rid
from latebind.model import Case, State
from latebind.verify.cases.expand import Extent, expand_cases, list_lines
from latebind.verify.report.data import CaseResult, PackageHash, Report
from latebind.verify.run.index import Answers

HASH = "0" * 64
HOSTILE = (
    '</script><script>document.title = "taken"</script><!-- <img src=x onerror=alert(1)> \u2028\x1b[31m{{ 7 * 7 }}'
)
RIDS = ("linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64")
MINORS = tuple(f"1.{minor}.{minor % 3}" for minor in range(19, 32))
NEGATIVE = ("absent", "too-old", "path-wrong", "not-a-library", "wrong-architecture", "no-shared-library")
POSITIVE = ("extra", "fork", "threads", "upgraded", "frozen")


def row(state="passed", **fields):
    """A test case of linux-x64 that works with 1.31.1, but for what is given."""
    state = State(state)
    names = ("kind", "target", "consumer", "runtime", "version", "scenario")
    defaults = {"kind": "wheel", "target": "linux-x64", "consumer": "python3.11", "runtime": "onnxruntime",
             "version": "1.31.1", "scenario": "works"}  # fmt: skip
    case = {name: fields.pop(name, defaults[name]) for name in names}
    identity = Case(**{**case, "target": Rid(case["target"])}).id
    reasons = {State.FAILED: "it broke", State.NOT_RUN: "no-machine"}
    rest = {
        "reason": reasons.get(state, ""),
        "summary": "3 cases passed" if state.is_pass else "",
        "seconds": 0.0 if state is State.NOT_RUN else 1.5,
        "log": "" if state is State.NOT_RUN else f"logs/{identity.replace('/', '_')}.log",
        "cached": False,
        "facts": {},
        "entries": ("latest",),
    }
    return CaseResult(id=identity, outcome=state, **case, **{**rest, **fields})


def report(*cases, packages=("x.snupkg",), machine=None):
    """A report of one machine; packages are names, or names with hashes."""
    digests = dict(packages) if isinstance(packages, dict) else dict.fromkeys(packages, HASH)
    machines = (machine or {"target": "linux-x64", "system": "Linux", "python": "3.11.7"},)
    return Report(tuple(PackageHash(file, digest) for file, digest in digests.items()), tuple(cases), machines)


def complete(config, *, but=lambda _: False):
    """Rows of all test cases that a configuration plans, passed, but for those that are left out."""
    names = ("kind", "target", "consumer", "runtime", "version", "scenario")
    return [
        row(**{name: getattr(configured.case, name) for name in names}, entries=configured.entries)
        for rid in map(Rid, config.document.targets.include)
        for configured in expand_cases(list_lines(config, [rid], Extent(pythons={rid: "3.11"}, home=rid)), Answers())
        if not but(configured.case)
    ]


CONSUMERS = (("wheel", "python3.10"), ("wheel", "python3.14"), ("nupkg", "dotnet-build"), ("nupkg", "dotnet-publish"))


def large(consumers=CONSUMERS):
    """Over 500 test cases of six targets, Python and .NET; a few failures, some of them with hostile words."""
    cases = [
        _large_row(kind, consumer, rid, version, scenario)
        for kind, consumer in consumers
        for rid in RIDS
        for version, scenario in [(version, "works") for version in MINORS]
        + [(MINORS[-1], scenario) for scenario in (*NEGATIVE, *POSITIVE)]
        + ([] if kind == "nupkg" else [(MINORS[0], "extra"), (MINORS[0], "fork"), (MINORS[0], "threads")])
    ]
    machines = tuple({"target": rid, "system": "a system", "python": "3.11.7"} for rid in RIDS)
    return Report(report(packages=[f"x-{rid}.whl" for rid in RIDS]).packages, tuple(cases), machines)


def huge():
    """Over 10,000 test cases."""
    return large([("wheel", f"python3.{minor}") for minor in range(10, 73)])


def _large_row(kind, consumer, rid, version, scenario):
    runtime = "onnxruntime" if kind == "wheel" else "Microsoft.ML.OnnxRuntime"
    case = {"kind": kind, "consumer": consumer, "target": rid, "runtime": runtime, "version": version,
            "scenario": scenario, "machine": RIDS.index(rid)}  # fmt: skip
    if (consumer, rid, version, scenario) == ("python3.10", "win-x64", MINORS[4], "works"):
        return row("failed", reason=f"2 cases differ\n{HOSTILE}", **case)
    if (consumer, rid, scenario) == ("dotnet-build", "linux-arm64", "too-old"):
        return row("failed", reason='the sentence lacks "version 1.32 or newer"; it was: "Segmentation fault"', **case)
    if rid == "win-arm64" or (rid == "osx-x64" and version in MINORS[5:]):
        return row("not run", reason="no-distribution" if rid == "osx-x64" else "no-machine", **case)
    facts = {"passed": 1148, "runtime_version": version, "out_of_scope": {"test_if_seq": "res is a sequence"}}
    return row(facts=facts, summary="1,148 cases passed, 42 also fail through the runtime's own API", **case)
