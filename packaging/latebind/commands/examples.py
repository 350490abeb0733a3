"""What `latebind COMMAND --help` ends with: lines to type, from the most usual one on, as data."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "new": (
        ("latebind new demo", "a C library with a wheel and a NuGet package"),
        ("latebind new demo --language c++", "the same in C++"),
    ),
    "init": (
        ("latebind init", "what would be written for the CMake project here, and what is wrong today"),
        ("latebind init --yes --apply", "write it, and change CMake and C files as shown"),
    ),
    "doctor": (("latebind doctor", "what is here, and how to get what is not"),),
    "plan": (("latebind plan --target all", "the files of a whole release"),),
    "build": (
        ("latebind build", "for this machine's target"),
        ("latebind build --target linux-arm64 --target win-x64", "for others, by zig"),
    ),
    "stage": (
        ("latebind stage", "what was built"),
        ("latebind stage --import wheelhouse/*.whl", "take in what cibuildwheel built elsewhere"),
    ),
    "pack": (("latebind pack --target all", "the packages of every target from this machine"),),
    "audit": (
        ("latebind audit", "dist/, by the rules of latebind.toml"),
        ("latebind audit some.whl some.nupkg", "packages of anybody"),
        ("latebind audit --explain LB101", "why a check is there, and what mends it"),
        ("latebind audit dist --format github", "annotations on a pull request"),
    ),
    "verify": (
        ("latebind verify", "this machine's target, the oldest and the latest runtime"),
        ("latebind verify --all --list", "every cell, and why one would not be run"),
        ("latebind verify -k 'win and 1.2*'", "some of them"),
        ("latebind verify --merge a/verify.json b/verify.json", "add machines up"),
    ),
    "gate": (("latebind gate", "of reports/verify.json"),),
    "matrix": (("latebind matrix --python 3.10 --python 3.14", "two Pythons on each target"),),
    "release": (
        ("latebind release --output out/1.2.3 --previous out/1.2.2", "make it, compared with the last one"),
        ("latebind release --check out/1.2.3", "check it, offline, anywhere"),
    ),
    "reproduce": (("latebind reproduce --target all", "two clean packs, which must be equal"),),
    "cibuildwheel": (("latebind cibuildwheel core > python/tiny/cibuildwheel.toml", "once; keep it"),),
    "loader-source": (("latebind loader-source native/made", "then cmake -DLATEBIND_DESCRIBED=native/made"),),
    "completion": (
        ('eval "$(latebind completion bash)"', "in ~/.bashrc; zsh: in ~/.zshrc, with zsh"),
    ),
}  # fmt: skip


def epilog(command: str) -> str:
    """The examples of a command as text; "" for one that has none."""
    rows = EXAMPLES.get(command, ())
    width = max((len(line) for line, _ in rows), default=0)
    return "\n".join(["examples:", *(f"  {line:{width}}  {what}" for line, what in rows)]) if rows else ""
