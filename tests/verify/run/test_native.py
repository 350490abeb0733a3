"""The stand-ins for a runtime: what is built for one target does not disturb another's."""

import threading
from concurrent.futures import ThreadPoolExecutor

from latebind.config.runtime import RuntimeUse
from latebind.verify.run import native

RUNTIME = RuntimeUse(preset="onnxruntime", minimum="1.19")
RIDS = ("linux-x64", "linux-arm64")


def test_stand_ins_of_a_version_are_built_for_two_targets_at_once(shared, monkeypatch):
    both = threading.Barrier(len(RIDS), timeout=20)

    def build(rid, _floor, _source, tree, *_defines):
        tree.mkdir(parents=True)
        both.wait()
        for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
            (tree / name).write_text(rid)
        both.wait()

    monkeypatch.setattr(native, "build_library_for", build)
    with ThreadPoolExecutor(len(RIDS)) as pool:
        made = pool.map(lambda rid: native.build_stand_in(shared, "2.28", RUNTIME, "1.33.0", rid), RIDS)
        assert [path.read_text() for path in made] == list(RIDS)
