"""Bad and good packages for the checks of what a project configures: LB201, LB204, LB406 and LB407."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case, bare, good, wheel
from corpus.cases.jars import make_jar
from corpus.cases.layout import NATIVE, split
from corpus.cases.npms import WHOLE
from corpus.cases.sdks import AT_SO, SO, exporting, library, sdk
from corpus.cases.symbols import LIB, F, of
from latebind.checks.policy import BindingPolicy

if TYPE_CHECKING:
    from corpus.packages import Bench

ONLY_LATENN = BindingPolicy(exports={"latenn": ("latenn_*",)})
TWINS = BindingPolicy(twins=({"wheel": "latenn-core", "nupkg": "Latenn.Kernel"},))
TINY = BindingPolicy(twins=({"wheel": "tiny", "jar": "acme:tiny", "npm": "@acme/tiny"},))
versioned = sdk(**{"lib/libx.so.1.2": good(soname="libx.so.1")}, links=[("lib/libx.so.1", "libx.so.1.2")])


def other(bench: Bench) -> bytes:
    return bench.compiler.library("int latenn_other(void) { return 1; }\n").read_bytes()


def twins(wheel_name: str = "latenn", package_id: str = "Latenn", *, same: bool, extra: bool = False):
    def make(bench: Bench):
        files = {"latenn/liblatenn.so": bench.good()}
        if extra:
            files["latenn/libextra.so"] = other(bench)
        wheels = bench.wheel(files, name=wheel_name, version="1.0.0")
        native = {NATIVE: bench.good() if same else other(bench)}
        return [*wheels, *bench.nupkg(native, package_id=package_id)]

    return make


def split_twins(*, same: bool):
    def make(bench: Bench):
        wheels = bench.wheel({"latenn/liblatenn.so": bench.good() if same else other(bench)}, version="1.0.0")
        return [*wheels, *split()(bench)]

    return make


def beside(place: str, make):
    """A wheel, and another package with the same library or another one."""

    def twins_of(*, same: bool):
        def pack(bench: Bench):
            wheels = bench.wheel({"tiny/liblatenn.so": bench.good()}, name="tiny", version="1.2.3")
            return [*wheels, *make(bench, {place: bench.good() if same else other(bench)})]

        return pack

    return {"bad": twins_of(same=False), "good": twins_of(same=True)}


def npms(bench: Bench, files: dict[str, bytes]):
    return [*bench.npm({}, **WHOLE), *bench.npm(files)]


CASES = [
    Case("LB201", "a function of the loader is exported beside the interface",
         of(f"{F}int lb_bind(void) {{ return 1; }}\n"),
         of(f'{F}__attribute__((visibility("hidden"))) int lb_bind(void) {{ return 1; }}\n'),
         at=f"!{LIB}", says="allowed: latenn_* lb_bind", policy=ONLY_LATENN),
    Case("LB201", "a function of the loader is exported; names that linkers give the edges of sections",
         of(f"{F}int lb_bind(void) {{ return 1; }}\n"),
         of(F + "".join(f"int {name};\n" for name in ("_bss_end__", "__bss_end__", "__bss_start__", "__end__"))),
         at=f"!{LIB}", says="lb_bind", policy=ONLY_LATENN),
    Case("LB201", "a rule by file name holds for a bare library", bare("liblatenn_backend_x.so", good()),
         bare("liblatenn.so", good()), at="liblatenn_backend_x.so", says="latenn_version",
         policy=BindingPolicy(exports={"liblatenn_backend_*.so": ("latenn_backend",)})),
    Case("LB201", "an export of an SDK", sdk(), sdk(**{SO: exporting("x_add")}), at=AT_SO, says="latenn_version",
         policy=BindingPolicy(exports={"x-sdk": ("x_*",)})),
    Case("LB204", "an exact name of the configuration is not exported", of("int latenn_lode(void) { return 1; }\n"),
         of("int latenn_load(void) { return 1; }\nint latenn_more(void) { return 1; }\n"), at=f"!{LIB}",
         says="latenn_load", policy=BindingPolicy(exports={"latenn": ("latenn_load", "latenn_*")})),
    Case("LB204", "only one of a package's libraries exports the name",
         wheel({LIB: good(), "latenn/other/liblatenn.so": other}), wheel({LIB: good(), "latenn/liblatenn_2.so": other}),
         at="!latenn/other/liblatenn.so", says="exports latenn_other",
         policy=BindingPolicy(exports={"latenn": ("latenn_version", "latenn_*")})),
    Case("LB406", "a project's wheel and nupkg hold different bytes", twins(same=False), twins(same=True),
         at="!latenn/liblatenn.so", says="Latenn.1.0.0.nupkg"),
    Case("LB406", "twins that the policy names", twins("latenn-core", "Latenn.Kernel", same=False),
         twins("latenn-core", "Latenn.Kernel", same=True), at="!latenn/liblatenn.so", says="Latenn.Kernel.1.0.0.nupkg",
         policy=TWINS),
    Case("LB406", "a wheel and the part of a split package", split_twins(same=False), split_twins(same=True),
         at="!latenn/liblatenn.so", says="Latenn.runtime.linux-x64.1.0.0.nupkg"),
    Case("LB406", "another library in the JAR", **beside("native/linux-x64/liblatenn.so", make_jar),
         at="!tiny/liblatenn.so", says="differs from tiny-1.2.3.jar!native/linux-x64/liblatenn.so", policy=TINY),
    Case("LB406", "another library in the npm package", **beside("liblatenn.so", npms), at="!tiny/liblatenn.so",
         says="differs from acme-tiny-linux-x64-1.2.3.tgz!package/liblatenn.so", policy=TINY),
    Case("LB406", "an SDK with another library than the wheel", at=AT_SO, says="differs from",
         bad=lambda bench: [*sdk()(bench), *bench.wheel({"x/libx.so": exporting("x_add")(bench)})],
         good=lambda bench: [*sdk()(bench), *bench.wheel({"x/libx.so": library(bench)})]),
    Case("LB406", "an SDK with another library, and links to it", at=f"{AT_SO}.1.2", says="differs from",
         bad=lambda bench: [*versioned(bench), *bench.wheel({"x/libx.so.1": exporting("x_add")(bench)})],
         good=lambda bench: [*versioned(bench), *bench.wheel({"x/libx.so.1": bench.good(soname="libx.so.1")})]),
    Case("LB407", "a library that only the wheel holds", twins(same=True, extra=True), twins(same=True),
         at="!latenn/libextra.so", says="Latenn.1.0.0.nupkg"),
]  # fmt: skip
