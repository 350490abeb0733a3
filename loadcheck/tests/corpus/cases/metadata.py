"""Bad subjects for LB5xx."""

from __future__ import annotations

import io
import struct
import zipfile

from corpus.cases.case import Case, good, npm, nupkg, wheel
from corpus.cases.jars import PARENT, jar
from corpus.cases.sdists import sdist
from corpus.packages import DESCRIBED, nuspec

LIB = "latenn/liblatenn.so"
POM_TEXTS = (
    "<name>tiny</name><description>d</description><url>https://acme.org</url>"
    "<developers><developer><name>a</name></developer></developers><scm><url>https://acme.org</url></scm>"
)
COMMANDS = "latenn-1.0.dist-info/entry_points.txt"
SBOM = "latenn-1.0.dist-info/sboms/a.cdx.json"


FROM_URL = "Requires-Dist: tiny @ https://acme.org/tiny.whl\n"


def summarized(length: int):
    return wheel(described=DESCRIBED.replace("Summary: s", f"Summary: {'s' * length}"))


class Pipe(io.RawIOBase):
    """A file that is only written, so that zipfile puts sizes after the bytes."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)


def streamed(**how):
    """A wheel that was written to a pipe."""

    def make(bench):
        (path,), pipe = bench.wheel(**how), Pipe()
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                target.writestr(name, source.read(name))
        path.write_bytes(pipe.data)
        return [path]

    return make


def empty(bench):
    (path,) = bench.wheel()
    zipfile.ZipFile(path, "w").close()
    return [path]


def changed(change):
    """A wheel whose archive is changed, which gets its bytes and the place of its directory."""

    def make(bench):
        (path,) = bench.wheel()
        data = bytearray(path.read_bytes())
        change(data, struct.unpack_from("<I", data, data.rfind(b"PK\5\6") + 16)[0])
        path.write_bytes(data)
        return [path]

    return make


def insert_gap(data: bytearray, directory: int) -> None:
    data[directory:directory] = b"none"
    struct.pack_into("<I", data, data.rfind(b"PK\5\6") + 16, directory + 4)


def rename(letter: str):
    """Change the first letter of the first name, in its header and in the directory."""

    def change(data: bytearray, directory: int) -> None:
        for place in (30, directory + 46):
            data[place] = ord(letter)

    return change


def cut_field(data: bytearray, directory: int) -> None:
    """Give the first member an extra field, of 3 bytes, and tell the directory."""
    start = 30 + struct.unpack_from("<H", data, 26)[0]
    data[start:start] = b"\1\2\3"
    struct.pack_into("<H", data, 28, 3)
    position = directory + 3
    while data[position : position + 4] == b"PK\1\2":
        (offset,) = struct.unpack_from("<I", data, position + 42)
        struct.pack_into("<I", data, position + 42, offset + 3 * bool(offset))
        position += 46 + sum(struct.unpack_from("<HHH", data, position + 28))
    struct.pack_into("<I", data, data.rfind(b"PK\5\6") + 16, directory + 3)


def change_size(data: bytearray, _directory: int) -> None:
    struct.pack_into("<I", data, 22, 7)


def change_method(data: bytearray, _directory: int) -> None:
    struct.pack_into("<H", data, 8, zipfile.ZIP_BZIP2)


def whole(bench):
    return bench.wheel()


def record(change):
    return wheel(record=change)


def requires(text: str):
    return wheel(metadata=f"Requires-Dist: {text}\n")


def depends(version: str, package: str = "Microsoft.ML.OnnxRuntime"):
    inner = f'<dependency id="{package}" version="{version}"/>'
    dependencies = f'<dependencies><group targetFramework="netstandard2.0">{inner}</group></dependencies>'
    return nupkg(extra=dependencies)


def change_entry(entries, path, **cells):
    return [
        (name, cells.get("digest", digest), cells.get("size", size)) if name == path else (name, digest, size)
        for name, digest, size in entries
    ]


def with_backslashes(*names: str):
    """Write the paths of these files, or of all, with the separators of Windows."""

    def change(entries):
        return [(name.replace("/", "\\") if name in names or not names else name, *cells) for name, *cells in entries]

    return change


CASES = [
    Case("LB501", "no RECORD", wheel(drop=("RECORD",)), whole, at=".whl", says="RECORD"),
    Case("LB501", "a wrong hash", record(lambda entries: change_entry(entries, LIB, digest="sha256=AAAA")), whole,
         at=f"!{LIB}", says="differs from its hash", severity="warning"),
    Case("LB501", "a wrong size", record(lambda entries: change_entry(entries, LIB, size="7")), whole, at=f"!{LIB}",
         says="RECORD says 7", severity="warning"),
    Case("LB501", "a file that is missing; a folder, for which nothing is installed",
         record(lambda entries: [*entries, ("latenn/late.txt", "", "")]),
         record(lambda entries: [*entries, ("latenn/", "", "")]), at="/RECORD", says="lists latenn/late.txt",
         severity="warning"),
    Case("LB501", "no hash at all", record(lambda entries: change_entry(entries, LIB, digest="")), whole, at=f"!{LIB}",
         says="no SHA-256", severity="warning"),
    Case("LB501", "a file that is not listed", wheel(after={"latenn/late.txt": b"x"}), whole, at="!latenn/late.txt",
         says="does not list it", severity="warning"),
    Case("LB501", "a listed file that is missing",
         record(lambda entries: [*entries, ("latenn/gone.py", "sha256=AAAA", "1")]),
         whole, at="/RECORD", says="latenn/gone.py", severity="warning"),
    Case("LB501", "a file that is listed twice", record(lambda entries: [*entries, entries[0]]), whole, at="/RECORD",
         says="2 times", severity="warning"),
    Case("LB501", "the separators of Windows", record(with_backslashes()), whole, at="/RECORD",
         says="paths with backslashes, which name no file", severity="warning"),
    Case("LB501", "the separators of Windows in one path", record(with_backslashes(LIB)), whole, at="/RECORD",
         says="has 1 path with backslashes", severity="warning"),
    Case("LB501", "the separators of Windows, and a wrong hash",
         record(lambda entries: with_backslashes()(change_entry(entries, LIB, digest="sha256=AAAA"))), whole,
         at=f"!{LIB}", says="differs from its hash", severity="warning"),
    Case("LB501", "a backslash in the path of a file that is missing",
         record(lambda entries: [*entries, ("latenn\\gone.py", "sha256=AAAA", "1")]), whole, at="/RECORD",
         says="lists latenn\\gone.py, which is not in the wheel", severity="warning"),
    Case("LB501", "a RECORD of two columns",
         wheel(after={"latenn-1.0.dist-info/RECORD": b"latenn/__init__.py,sha256=x\n"}), whole, at="/RECORD",
         says="2 columns"),
    Case("LB502", "a second .dist-info folder; one inside a package is its own business",
         wheel({"other-1.0.dist-info/METADATA": b""}), wheel({"latenn/_vendor/other-1.0.dist-info/METADATA": b""}),
         at=".whl", says="2 .dist-info folders"),
    Case("LB502", "an invalid wheel name", wheel(file_name="latenn.whl"), whole, at="latenn.whl",
         says="not a valid wheel name"),
    Case("LB502", "another tag inside", wheel(said_tag="py3-none-any"), whole, at="/WHEEL", says="py3-none-any",
         severity="note"),
    Case("LB502", "another version inside", wheel(said_version="1.1"), wheel(said_version="1.0.0"), at="/METADATA",
         says="1.1"),
    Case("LB502", "no WHEEL", wheel(drop=("WHEEL",)), whole, at=".whl", says="WHEEL"),
    Case("LB502", "METADATA that is not UTF-8", wheel(after={"latenn-1.0.dist-info/METADATA": b"Name: \xff\n"}), whole,
         at="/METADATA", says="not UTF-8"),
    *(Case("LB507", what, lambda bench, line=line: bench.wheel(metadata=line), whole, at="/METADATA", says=says,
           severity="warning") for what, line, says in (
        ("a license that SPDX does not have", "License-Expression: Banana-1.0\n", "an invalid license-expression"),
        ("a field that no version defines", "Banana: yes\n", "an invalid banana"),
        ("a type of text that PyPI does not show", "Description-Content-Type: text/html\n", "text/html"),
        ("a range that is none", "Requires-Python: new\n", "an invalid requires-python"),
        ("a requirement from a URL", "Requires-Dist: tiny @ https://acme.org/tiny.whl\n", "requires tiny from a URL"),
        ("two ways to name the license", "License: MIT\nLicense-Expression: MIT\n", "both License and License-Ex"),
        ("a license file that is missing", "License-File: COPYING\n", "license file COPYING, which is not in"),
    )),
    Case("LB507", "a license expression in old metadata",
         wheel(metadata="License-Expression: MIT\n", metadata_version="2.3"),
         wheel(metadata="License-Expression: MIT\nLicense-File: LICENSE\n"), at="/METADATA",
         says="introduced in metadata version 2.4, not 2.3", severity="warning"),
    Case("LB507", "a license file in old metadata, where setuptools wrote it, and twine leaves it out",
         wheel(metadata="License-Expression: MIT\n", metadata_version="2.1"),
         wheel(metadata="License-File: LICENSE\n", metadata_version="2.1"), at="/METADATA",
         says="introduced in metadata version 2.4, not 2.1", severity="warning"),
    Case("LB507", "a requirement from a URL; in a private package", wheel(metadata=FROM_URL),
         wheel(metadata=f"{FROM_URL}Classifier: Private :: Do Not Upload\n"), at="/METADATA", says="from a URL",
         severity="warning"),
    Case("LB507", "a local version", wheel(version="1.0+cpu"), whole, at="/METADATA", says="local version 1.0+cpu",
         severity="note"),
    Case("LB507", "a summary that is too long", summarized(513), summarized(512), at="/METADATA",
         says="513 characters", severity="warning"),
    *(Case("LB507", what, wheel(metadata=bad), wheel(metadata=fine), at="/METADATA", says=says, severity="warning")
      for what, bad, fine, says in (
        ("a label that is too long", f"Project-URL: {'s' * 33}, https://acme.org\n",
         f"Project-URL: {'s' * 32}, https://acme.org\n", "a label of 33 characters"),
        ("a link that is a file", "Project-URL: Docs, docs/index.md\n", "Project-URL: Docs, http://acme.org\n",
         "'docs/index.md' as a URL"),
        ("a home page that is no URL", "Home-page: UNKNOWN\n", "Home-page: https://acme.org\n", "'UNKNOWN' as a URL"),
        ("an address without @", "Author-email: me\n", "Author-email: Me <me@acme.org>\n", "'me' as an e-mail"),
        ("a maintainer's address without @", "Maintainer-email: me\n", "Maintainer-email: Me <me@acme.org>\n",
         "'me' as an e-mail"),
    )),
    Case("LB507", "a wheel without METADATA, of which only the local version is known", wheel(version="1.0+cpu"),
         wheel(drop=("METADATA",)), at="/METADATA", says="local version", severity="note"),
    Case("LB507", "a command with a slash", wheel({COMMANDS: b"[console_scripts]\n../run = tiny:run\n"}),
         wheel({COMMANDS: b"[console_scripts]\nrun-1.0_x = tiny:run\n[a.b]\na b = c\n"}), at=f"!{COMMANDS}",
         says="names the command '../run'", severity="warning"),
    Case("LB507", "commands without a section", wheel({COMMANDS: b"run = tiny:run\n"}), wheel({COMMANDS: b""}),
         at=f"!{COMMANDS}", says="cannot be read", severity="warning"),
    Case("LB512", "an extra field that is cut off", changed(cut_field), whole, at=".whl", says="damaged extra field"),
    Case("LB512", "a name in another encoding", changed(rename("\xff")), changed(rename("b")), at=".whl",
         says="not that of the directory in UTF-8"),
    Case("LB512", "a file of which only what follows it says the size", streamed(), whole, at=".whl",
         says="has a data descriptor"),
    Case("LB512", "a data descriptor; an archive without files", streamed(), empty, at=".whl", says="data descriptor"),
    Case("LB512", "the same in a wheel that is not for PyPI", streamed(), streamed(version="1.0+cpu"), at=".whl",
         says="has a data descriptor", good_severity="note"),
    Case("LB512", "bytes between the files and the directory", changed(insert_gap), whole, at=".whl",
         says="is followed by 4 bytes that belong to no file"),
    Case("LB512", "another size in a header", changed(change_size), whole, at=".whl",
         says="differs from the directory"),
    Case("LB602", "another method in a header, which PyPI does not compare", changed(change_method), whole,
         at="!latenn/__init__.py", says="has a method in its header that differs"),
    Case("LB512", "a control character in a name", wheel({"latenn/a\x07.txt": b"x"}), whole, at=".whl",
         says="has a control character"),
    Case("LB507", "an SBOM of nested lists", wheel({LIB: good(), SBOM: b"[" * 100_000}),
         wheel({LIB: good(), SBOM: b"[]"}), at=f"!{SBOM}", says="is not JSON", severity="note"),
    Case("LB507", "an SBOM that is not JSON", wheel({LIB: good(), SBOM: b"<"}), wheel({LIB: good(), SBOM: b"{}"}),
         at=f"!{SBOM}", says="is not JSON", severity="note"),
    Case("LB503", "another version; the same with fewer and more numbers",
         nupkg(spec=nuspec("Latenn", "1.0.0.1", "")), nupkg(spec=nuspec("Latenn", "1.0.0.0", "")), at="!Latenn.nuspec",
         says="1.0.0.1"),
    Case("LB503", "a nupkg that was renamed", nupkg(spec=nuspec("Latenn", "1.1.0", "")),
         nupkg(spec=nuspec("Latenn", "1.0", "")), at="!Latenn.nuspec", says="1.1.0"),
    Case("LB502", "a requirement that cannot be read", requires("onnxruntime >>> 1"), requires("onnxruntime>=1"),
         at="/METADATA", says="onnxruntime >>> 1"),
    Case("LB509", "a wheel that nothing describes", wheel(described=""), whole, at="!latenn-1.0.dist-info/METADATA",
         says="has no summary and no README and no author and no link and no license", severity="note"),
    Case("LB509", "a wheel whose README is empty", wheel(described=DESCRIBED.replace("Description: d\n", "")),
         wheel(described=DESCRIBED.replace("Description: d\n", ""), metadata="\n# latenn\n"), at="/METADATA",
         says="has no README", severity="note"),
    Case("LB509", "an sdist without a description", sdist(PKG_INFO="Metadata-Version: 2.4\n"),
         sdist(PKG_INFO=f"Metadata-Version: 2.4\n{DESCRIBED}"), at="!tiny-1.0.0/PKG-INFO", says="no summary",
         severity="note"),
    Case("LB509", "a nupkg without README and link", nupkg(spec=nuspec("Latenn", "1.0.0", "", page="")), nupkg(),
         at="!Latenn.nuspec", says="has no README and no link", severity="note"),
    Case("LB509", "an npm package that nothing describes", npm(),
         npm({"README.md": b"x"}, description="d", author="a", repository="https://acme.org", license="MIT"),
         at="!package/package.json", says="has no description and no README and no author and no link and no license",
         severity="note"),
    Case("LB509", "a snapshot", jar(version="1.2.3-SNAPSHOT", file_name="tiny-1.2.3-SNAPSHOT.jar", described=POM_TEXTS),
         jar(described=POM_TEXTS), at="/pom.xml", says="has no release version", severity="note"),
    Case("LB509", "a POM that Maven Central refuses", jar(),
         jar(described=POM_TEXTS), at="/pom.xml",
         says="has no <description> and no <url> and no <developers> and no <scm>", severity="note"),
    Case("LB509", "no license", jar(license_="", described=POM_TEXTS), jar(described=POM_TEXTS), at="/pom.xml",
         says="has no <licenses>", severity="note"),
    Case("LB509", "no license, where a parent may name one", jar(license_="", described=POM_TEXTS),
         jar(license_="", change=("<groupId>", PARENT)), at="/pom.xml", says="has no <licenses>", severity="note"),
    Case("LB509", "a nuspec that names no license",
         nupkg(spec=nuspec("Latenn", "1.0.0", "").replace('<license type="expression">MIT</license>', "")), nupkg(),
         at="!Latenn.nuspec", says="no license", severity="note"),
]  # fmt: skip
