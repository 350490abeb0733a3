"""The examples at the end of `latebind COMMAND --help`, the most usual one first."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "new": (
        ("latebind new demo", "a C library with a wheel and a NuGet package"),
        ("latebind new demo --language c++", "the same in C++"),
        ("latebind new demo --kind ep", "an execution provider for ONNX Runtime"),
        ("latebind new demo --kind custom-op", "custom operators for ONNX Runtime"),
    ),
    "adopt": (
        ("latebind adopt", "show what links the runtime of the project here, and what to change"),
        ("latebind adopt --apply", "make the change that is shown"),
    ),
    "ci": (
        ("latebind ci", "write .github/workflows/latebind.yml, to be edited"),
        ("latebind ci --check", "check whether this file is out of date"),
    ),
    "doctor": (
        ("latebind doctor", "what is installed, and how to install the rest"),
        ('latebind doctor --message "wrong ELF class: ELFCLASS32"', "what this error means, and how to fix it"),
    ),
    "plan": (("latebind plan --target all", "the files of a whole release"),),
    "build": (
        ("latebind build", "for this machine's target"),
        ("latebind build --target linux-arm64,win-x64", "for other targets, with zig"),
    ),
    "stage": (
        ("latebind stage", "list what is built"),
        ("latebind stage --import wheelhouse/*.whl", "add what cibuildwheel built elsewhere"),
    ),
    "pack": (("latebind pack --target all", "packages for every target, from this machine"),),
    "audit": (
        ("latebind audit", "everything in dist/"),
        ("latebind audit some.whl some.nupkg", "any packages"),
        ("latebind audit --profile runtime some.whl", "check whether a runtime is linked or bundled"),
        ("latebind audit --explain LB101", "what a check finds and how to fix it"),
        ("latebind audit dist --format github", "annotations on a pull request"),
    ),
    "verify": (
        ("latebind verify", "this machine's target, the oldest and the latest runtime"),
        ("latebind verify --all --list", "list every test case, and why it would not run"),
        ("latebind verify -k win -k '!1.2*'", "only the test cases that match"),
        ("latebind verify --merge a/verify.json b/verify.json", "merge the reports of several machines"),
        ("latebind verify --kit kit", "a folder for verifying the packages on another computer"),
    ),
    "gate": (("latebind gate", "check reports/verify.json"),),
    "matrix": (("latebind matrix --python 3.10 --python 3.14", "two Python versions on each target"),),
    "rehearse": (
        ("latebind rehearse", "everything that a release does, on this machine"),
        ("latebind rehearse --release out/1.2.3", "the same from a release folder: publish, install, verify"),
    ),
    "release": (
        ("latebind release --output out/1.2.3 --previous out/1.2.2", "make a release and compare it with the last one"),
        ("latebind release --check out/1.2.3", "check this release, offline"),
    ),
    "reproduce": (("latebind reproduce --target all", "compare two clean packs"),),
    "cibuildwheel": (("latebind cibuildwheel core > python/tiny/cibuildwheel.toml", "write it once, and commit it"),),
    "loader-source": (
        ("latebind loader-source --single --runtime onnxruntime third_party/latebind", "one C file and a header"),
        ("latebind loader-source native/made", "then cmake -DLATEBIND_DESCRIBED=native/made"),
    ),
    "stub": (
        ("latebind stub onnxruntime --output stubs", "for this machine; then -DCMAKE_PREFIX_PATH=stubs/linux-x64"),
        ("latebind stub onnxruntime --target all --output stubs", "for every target"),
        ("latebind stub onnxruntime --source --output third_party/latebind", "one C file and a header"),
    ),
    "headers": (
        ("latebind headers onnxruntime 1.21 --output third_party/onnxruntime", "from the first place that has them"),
        ("latebind headers onnxruntime --output headers --from Microsoft.ML.OnnxRuntime.1.19.2.nupkg", "from a file"),
    ),
    "sbom": (
        ("latebind sbom dist/*.whl", "write wheels with SBOMs to wheelhouse/"),
        ("latebind sbom some.whl --part 'ujson@5.10=UltraJSON'", "name a project that latebind does not find"),
    ),
    "completion": (
        ('eval "$(latebind completion bash)"', "for bash; add the line to ~/.bashrc"),
        ('eval "$(latebind completion zsh)"', "for zsh; add the line to ~/.zshrc"),
        ("latebind completion fish > ~/.config/fish/completions/latebind.fish", "for fish"),
        ("latebind completion powershell > latebind.ps1", "for PowerShell; run the file from $PROFILE"),
    ),
}  # fmt: skip


def epilog(command: str) -> str:
    """The examples of a command as text; "" for one that has none."""
    examples = EXAMPLES.get(command, ())
    width = max((len(line) for line, _ in examples), default=0)
    return "\n".join(["examples:", *(f"  {line:{width}}  {what}" for line, what in examples)]) if examples else ""
