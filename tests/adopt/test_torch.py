"""`latebind adopt` on extensions of PyTorch: what they need of its C++ interface, and the stable counterpart."""

import pytest

from latebind.adopt.torch import PORT_ADVICE
from latebind.tables.stabletorch import OTHERS, find_group, unstable_groups
from tests.support.needs import require_programs
from tests.support.running import assert_success, run_checked

NEEDS = {
    "_ZN5torch7Library4_defEv": "registration (torch::Library::_def): STABLE_TORCH_LIBRARY() with schemas",
    "_ZN3c106detail14torchCheckFailEv": "errors (c10::detail::torchCheckFail): STD_TORCH_CHECK() (PyTorch 2.9)",
    "_ZN2at4_ops5empty4callEv": "operators (at::_ops::empty::call): torch/csrc/stable/ops.h has a few",
    "_ZN2at14TensorIterator5buildEv": "iterators (at::TensorIterator::build): nothing is known in the stable ABI",
    "_ZN3c104cuda20getCurrentCUDAStreamEa": "streams (c10::cuda::getCurrentCUDAStream): aoti_torch_get_current",
    "_ZN3c105Other5gammaEv": "others (c10::Other::gamma): nothing is known in the stable ABI",
}
"""Names as compilers write them, without types, and what is said of them."""


CALLS_BOTH = """
int aoti_torch_abi_version(void);
int aoti_torch_get_current_cuda_stream(int index, void** stream);
int run(void** stream) { return aoti_torch_get_current_cuda_stream(aoti_torch_abi_version(), stream); }
"""


def link(folder, *names):
    """A library that needs functions of a libtorch_cpu.so, which it links."""
    require_programs("cc")
    declared = "".join(f"void {name}(void); " for name in names)
    calls = "".join(f"{name}(); " for name in names)
    (folder / "torch.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names), encoding="utf-8")
    (folder / "ext.c").write_text(f"{declared}\nvoid run(void) {{ {calls} }}\n", encoding="utf-8")
    run_checked("cc", "-shared", "-fPIC", "torch.c", "-o", "libtorch_cpu.so", cwd=folder)
    run_checked("cc", "-shared", "-fPIC", "ext.c", "-o", "ext.so", "-L.", "-ltorch_cpu", cwd=folder)
    (folder / "libtorch_cpu.so").unlink()
    return folder / "ext.so"


@pytest.mark.builds
def test_each_kind_of_name_is_named_with_its_counterpart_and_no_stub_is_advised(latebind, tmp_path):
    printed = assert_success(latebind("-v", "adopt", link(tmp_path, *NEEDS)))
    assert (
        f"ext.so: needs {len(NEEDS)} names of PyTorch's C++ interface, which may change with each minor release"
        in printed
    )
    assert [says for says in NEEDS.values() if says not in printed] == []
    assert (PORT_ADVICE in printed, "latebind stub" in printed) == (True, False)


@pytest.mark.builds
def test_a_library_that_uses_the_stable_abi_alone_is_told_its_oldest_torch_and_the_stub(latebind, tmp_path):
    printed = assert_success(latebind("adopt", link(tmp_path, "torch_from_blob", "torch_library_impl")))
    assert "ext.so: uses PyTorch's stable ABI alone, from 2.11 on: torch_from_blob" in printed
    assert 'next: eval "$(latebind stub torch --output stubs --export)"' in printed


@pytest.mark.builds
def test_other_libraries_that_link_torch_get_no_line_about_its_abi(latebind, tmp_path):
    printed = assert_success(latebind("adopt", link(tmp_path, "aoti_torch_abi_version")))
    assert "stable ABI" not in printed
    assert "C++ interface" not in printed


def test_no_group_hides_another():
    """The first match counts, so no name of a group begins with a name of an earlier one."""
    hidden = [name for group in unstable_groups() for name in group.names if find_group(name) is not group]
    assert hidden == []
    assert find_group("std::vector") is OTHERS


@pytest.mark.builds
def test_a_library_with_torchs_stubs_alone_is_not_said_to_bind_the_driver(latebind, tmp_path):
    """The name of one variable was the end of the other's."""
    for name in ("torch", "torch_cuda"):
        assert_success(latebind("stub", name, "--target", "linux-x64", "--output", tmp_path / "stubs"))
    (tmp_path / "ext.c").write_text(CALLS_BOTH, encoding="utf-8")
    links = (f"-L{tmp_path / 'stubs/linux-x64/lib'}", "-ltorch_cuda", "-ltorch_cpu", "-ldl", "-pthread")
    run_checked("cc", "-shared", "-fPIC", "ext.c", "-o", "ext.so", *links, cwd=tmp_path)
    printed = assert_success(latebind("adopt", tmp_path / "ext.so"))
    bound = [line.partition("binds ")[2] for line in printed.splitlines() if "binds " in line]
    assert bound == ["PyTorch late, at the first call", "PyTorch for CUDA late, at the first call"]
