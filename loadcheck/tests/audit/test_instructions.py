import re

from tests.audit.cases.instructions import ASKS, INIT, MODULE, SKYLAKE, WHOLE

from loadcheck.audit import audit_here


def find_newer(bench, *flags):
    library = bench.compiler.library(WHOLE + INIT, *flags).read_bytes()
    report = audit_here(bench.wheel({MODULE: library}))
    return [finding for finding in report.findings if finding.code == "LB118"]


def test_finding_names_the_function_that_runs_at_import_and_the_level(bench):
    (finding,) = find_newer(bench, *SKYLAKE)

    assert finding.message == (
        "is compiled entirely for processors with AVX-512, and crashes with an illegal instruction on others that the "
        "package admits: 100% of its vector code is VEX-encoded"
    )
    assert [re.sub(r"\d+ of \d+|\d+$", "N", line) for line in finding.evidence] == [
        "VEX-encoded code that runs when the library is loaded: PyInit__fast",
        "VEX-encoded instructions: N typical vector instructions in samples of the code",
        "EVEX-encoded instructions (AVX-512): N",
        "no cpuid or xgetbv instruction",
    ]
    assert (finding.severity, finding.assumption) == ("warning", "")


def test_library_that_nothing_runs_of_at_import_rests_on_an_assumption(bench):
    library = bench.compiler.library(WHOLE, "-march=haswell").read_bytes()
    report = audit_here(bench.wheel({"latenn/liblatenn.so": library}))
    (assumption,) = (finding.assumption for finding in report.findings if finding.code == "LB118")

    assert assumption == "no program checks the processor before it opens the library"


def test_kernels_for_avx2_in_a_library_that_asks_are_not_reported(bench):
    kernels = WHOLE.replace("void latenn_f", '__attribute__((target("avx2"))) void latenn_f')
    library = bench.compiler.library(kernels + ASKS).read_bytes()
    report = audit_here(bench.wheel({"latenn/liblatenn.so": library}))

    assert "LB118" not in {finding.code for finding in report.findings}
