"""Bad and good packages for LB417 and LB418."""

from __future__ import annotations

from corpus.cases.case import Case, good, wheel
from latebind.checks.policy import BindingPolicy

LIB = "latenn/liblatenn.so"
CV2 = BindingPolicy(modules={"latenn": "cv2"})
MANIFEST = "latenn-1.0.dist-info/extra_metadata/latebind.json"
CASES = [
    Case("LB417", "a module of another name than the project's", wheel(),
         wheel({"cv2/__init__.py": b"", "cv2/liblatenn.so": good()}), at=".whl",
         says="has no module cv2, which latenn is imported as", policy=CV2),
    Case("LB417", "latebind's own wheel with a hook for PyInstaller alone",
         wheel({MANIFEST: b"{}", "latenn/_pyinstaller/__init__.py": b"", LIB: good()}, drop_code=True),
         wheel({MANIFEST: b"{}", LIB: good()}), at=".whl", says="has no Python module"),
    Case("LB418", "a library outside the module that the project names",
         wheel({"cv2/__init__.py": b"", "latenn/liblatenn.so": good()}),
         wheel({"cv2/__init__.py": b"", "cv2/liblatenn.so": good(), "latenn.libs/libz-0a1b2c3d.so.1": good()}),
         at="!latenn/liblatenn.so", says="is outside cv2", severity="warning", policy=CV2),
    Case("LB418", "a library of latebind's own wheel in a folder without code",
         wheel({MANIFEST: b"{}", "other/liblatenn.so": good()}), wheel({MANIFEST: b"{}", LIB: good()}),
         at="!other/liblatenn.so", says="is outside latenn", severity="warning"),
]  # fmt: skip
