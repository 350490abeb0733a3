"""Reports whose files need each other."""

from loadcheck.model import AuditReport, Copy, Finding, Need

HOSTILE = '</script><script>document.title = "taken"</script>"\'<img src=x onerror=alert(1)>\x1b[2J\x00\u2028\ud800'


def need(user, library, supply="package", *, source=None, path="", severity=None, message="", root="/venv"):
    """What `torch 1.0:torch/x.so` needs; a package supplies it itself, at `path`."""
    owner, _, file = user.partition(":")
    if source is None:
        source = owner if supply == "package" else ""
    return Need(
        subject=f"{root}/{file}",
        owner=owner,
        file=file,
        library=library,
        supply=supply,
        source=source,
        path=path,
        severity=severity,
        message=message,
    )


def lack(user, library, severity="warning"):
    """A need that nothing supplies, and the finding on it."""
    file = user.partition(":")[2]
    message = f"needs {library}, which no distribution installs"
    found = need(user, library, "missing", severity=severity, message=message)
    finding = Finding(
        code="LB120",
        severity=severity,
        subject=f"/venv/{file}",
        message=message,
        evidence=(f"NEEDED {library}",),
        fix="Install it.",
        cause=library,
        libraries=(library,),
    )
    return found, finding


def usual_report():
    """Two copies of OpenMP, a library of another distribution, one that is missing, and a dull distribution."""
    missing, finding = lack("user 1.0:user/_core.so", "libodd.so.3")
    copies = Finding(
        code="LB119",
        severity="warning",
        subject="/venv",
        message="scikit-learn 1.9 and torch 2.13 install OpenMP: a program that imports them loads 2 copies",
        fix="Import one of them.",
        cause="OpenMP",
    )
    return AuditReport(
        subjects=1,
        packages=("/venv",),
        findings=(copies, finding),
        needs=(
            missing,
            need("user 1.0:user/_core.so", "libbase.so.1", source="base 1.0", path="base/libbase.so.1"),
            need("user 1.0:user/_core.so", "libc.so.6", "system"),
            need("torch 2.13:torch/libtorch.so", "libgomp.so.1", path="torch/libgomp.so.1"),
            *(
                need(f"scikit-learn 1.9:sklearn/{name}.so", "libgomp-1.so", path="scikit_learn.libs/libgomp-1.so")
                for name in ("_a", "_b", "_c")
            ),
            need("dull 1.0:dull/_x.so", "libc.so.6", "system"),
        ),
        copies=(
            Copy(family="OpenMP", owner="torch 2.13", file="torch/libgomp.so.1", name="SONAME libgomp.so.1"),
            Copy(
                family="OpenMP",
                owner="scikit-learn 1.9",
                file="scikit_learn.libs/libgomp-1.so",
                name="SONAME libgomp-1.so",
            ),
        ),
    )


def many(packages, files):
    """An environment in which each of some packages has files that need each other and the package before."""
    rows = []
    for number in range(packages):
        owner = f"package-{number} 1.0"
        for index in range(files):
            user = f"{owner}:p{number}/lib{index}.so"
            rows += [need(user, name, "system") for name in ("libc.so.6", "libm.so.6", "libstdc++.so.6")]
            if index:
                rows.append(need(user, f"lib{index - 1}.so", path=f"p{number}/lib{index - 1}.so"))
        if number:
            source = f"package-{number - 1} 1.0"
            rows.append(need(f"{owner}:p{number}/lib0.so", "lib0.so", source=source, path=f"p{number - 1}/lib0.so"))
    lacks = [lack(f"package-{number} 1.0:p{number}/lib1.so", f"libodd{number}.so") for number in range(packages)]
    return AuditReport(
        subjects=1,
        packages=("/venv",),
        findings=tuple(finding for _, finding in lacks),
        needs=(*rows, *(row for row, _ in lacks)),
    )
