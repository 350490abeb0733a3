"""An index is not trusted: sizes, lengths, redirects, hashes and archives are checked."""

import gzip
import json
import struct
import sys
import time
from contextlib import suppress

import pytest

from loadcheck.audit import audit_paths
from loadcheck.engine.policy import Policy
from loadcheck.errors import InputError, UserError
from loadcheck.index import download
from loadcheck.index.download import Downloader, DownloadError
from loadcheck.index.index import Index
from loadcheck.index.settings import IndexSettings, _find_default, read_index_settings


@pytest.fixture
def asked(index, tmp_path):
    return Index(IndexSettings(urls=(index.url,), is_offline=False, cache=tmp_path))


def refuse(asked, says):
    with pytest.raises(InputError) as refusal:
        asked.list_files("acme")
    assert says in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "gopher://x/"])
def test_a_redirect_to_another_scheme_is_refused(index, asked, target):
    index.answers["/simple/acme/"] = lambda request: request.answer(b"", 302, Location=target)

    refuse(asked, "the redirect is refused")


def test_a_redirect_within_http_is_followed(index, asked):
    index.add("acme")
    index.files["other"] = index.files["acme"]
    index.answers["/simple/acme/"] = lambda request: request.answer(b"", 302, Location="/simple/other/")

    assert [file.version for file in asked.list_files("acme")] == ["1.0"]


def test_a_loop_of_redirects_ends(index, asked):
    index.answers["/simple/acme/"] = lambda request: request.answer(b"", 302, Location="/simple/acme/")

    refuse(asked, "the redirect is refused")


def test_a_stated_length_over_the_limit_is_refused_before_it_is_read(index, asked):
    index.answers["/simple/acme/"] = lambda request: request.answer(b"", **{"Content-Length": 10**12})

    refuse(asked, "1000.0 GB exceed the limit")


def test_an_answer_that_ends_before_its_length_is_refused(index, asked):
    def cut(request):
        request.answer(b"{}", **{"Content-Length": 1000})
        request.close_connection = True

    index.answers["/simple/acme/"] = cut

    with pytest.raises(InputError):
        asked.list_files("acme")


def test_a_compressed_answer_is_limited_by_what_it_expands_to(index):
    bomb = gzip.compress(b" " * 10_000_000)
    index.answers["/x"] = lambda request: request.answer(bomb, **{"Content-Encoding": "gzip"})

    with pytest.raises(DownloadError, match="exceeds the limit"):
        Downloader().get(index.url.replace("/simple", "/x"), 1_000_000)


def test_an_answer_that_trickles_ends(index):
    def trickle(request):
        request.answer(b"", **{"Content-Length": 1000})
        for _ in range(50):
            request.wfile.write(b" ")
            request.wfile.flush()
            time.sleep(0.05)

    index.answers["/x"] = trickle

    with pytest.raises(DownloadError, match="takes too long"):
        Downloader(longest=0.3).get(index.url.replace("/simple", "/x"), 10_000)


@pytest.mark.parametrize("page", [b"", b"[]", b"\xff" * 20, b"{" * 100_000, b'{"files": [{"filename": 1}]}'])
def test_a_page_that_is_no_json_of_the_api_is_refused(index, asked, page):
    form = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
    index.answers["/simple/acme/"] = lambda request: request.answer(page, **form)

    refuse(asked, "is not JSON of the simple API")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/acme-1.0-py3-none-any.whl", "//[", "x:y"])
def test_a_page_that_leads_to_another_scheme_is_refused(index, asked, address):
    page = f'{{"files": [{{"filename": "acme-1.0-py3-none-any.whl", "hashes": {{}}, "url": "{address}"}}]}}'.encode()
    form = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
    index.answers["/simple/acme/"] = lambda request: request.answer(page, **form)

    with pytest.raises(InputError) as refusal:
        [asked.read_wheel(file) for file in asked.list_files("acme")]
    assert "has the scheme of no URL" in str(refusal.value)


def test_a_part_that_is_not_the_one_that_was_asked_for_is_refused(index, asked):
    index.add("acme", {"acme/x": b"x" * 100})
    [file] = asked.list_files("acme")
    path = f"/files/acme/{file.name}"
    index.answers[path] = lambda request: request.answer(b"x" * 10, 206, **{"Content-Range": "bytes 0-99/100"})

    with pytest.raises(DownloadError, match="not the one that the server says"):
        asked.read_wheel(file)


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"PK\5\6" + bytes(18),
        b"x" * 1000,
        b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 65535, 65535, 0xFFFFFFF0, 0, 0),
        b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 1, 1, 46, 0xFFFFFF, 0),
    ],
)
def test_an_archive_whose_directory_lies_is_refused_or_empty(index, asked, archive):
    name = index.add("acme")
    index.files["acme"][name] = archive
    index.has_metadata = False
    [file] = asked.list_files("acme")

    with suppress(InputError):
        assert asked.read_wheel(file).names == ()


def test_metadata_with_another_hash_is_refused(index, asked):
    index.add("acme")
    [file] = asked.list_files("acme")
    index.files["acme"][f"{file.name}.metadata"] += b"Requires-Dist: evil\n"

    with pytest.raises(DownloadError, match="another hash"):
        asked.read_metadata(file)


def test_a_whole_archive_with_another_hash_is_refused(index, asked):
    index.has_ranges = False
    name = index.add("acme")
    [file] = asked.list_files("acme")
    index.add("acme", {"acme/evil.so": b""})

    with pytest.raises(DownloadError, match="another hash"):
        asked.read_wheel(file)
    assert file.name == name


def test_credentials_are_sent_to_the_index_and_are_in_no_message(index, tmp_path):
    url = index.url.replace("://", "://me:s%65cret@")
    asked = Index(IndexSettings(urls=(url,), is_offline=False, cache=tmp_path))
    index.answers["/simple/acme/"] = lambda request: request.answer(b"", 500)

    refuse(asked, "the server answered 500")
    [(_, headers)] = index.asked
    assert headers["Authorization"] == "Basic bWU6c2VjcmV0"


def test_credentials_do_not_follow_a_redirect(index, tmp_path):
    url = index.url.replace("://", "://me:secret@")
    asked = Index(IndexSettings(urls=(url,), is_offline=False, cache=tmp_path))
    elsewhere = index.url.replace("127.0.0.1", "localhost")
    index.answers["/simple/acme/"] = lambda request: request.answer(b"", 302, Location=f"{elsewhere}/other/")

    asked_files = asked.list_files("acme")

    assert asked_files == ()
    assert ["Authorization" in headers for _, headers in index.asked] == [True, False]


def test_a_server_that_does_not_answer_is_named_without_credentials(tmp_path):
    asked = Index(IndexSettings(urls=("http://me:secret@127.0.0.1:9/simple",), is_offline=False, cache=tmp_path))

    refuse(asked, "http://127.0.0.1:9/simple/acme/: no answer that can be read")


def test_the_index_is_found_as_installers_find_it(tmp_path):
    pip = tmp_path / "pip.conf"
    pip.write_text("[global]\nindex-url = https://a.example/simple/\nextra-index-url =\n  https://b.example/s\n")
    uv = tmp_path / "uv.toml"
    uv.write_text('[[index]]\nurl = "https://c.example/simple"\ndefault = true\n')
    files = {"PIP_CONFIG_FILE": str(pip), "UV_CONFIG_FILE": str(tmp_path / "none")}

    of_pip = read_index_settings(files)
    of_uv = read_index_settings({"PIP_CONFIG_FILE": "/dev/null", "UV_CONFIG_FILE": str(uv)})
    named = read_index_settings({**files, "UV_DEFAULT_INDEX": "https://d.example", "UV_INDEX": "x=https://e.example"})

    assert of_pip.urls[0] == "https://a.example/simple"
    assert "https://b.example/s" in of_pip.urls
    assert of_uv.urls[0] == "https://c.example/simple"
    assert named.urls[:2] == ("https://d.example", "https://e.example")


def test_a_file_of_pip_that_cannot_be_read_is_named(tmp_path):
    pip = tmp_path / "pip.conf"
    pip.write_text("index-url = x\n")

    with pytest.raises(UserError, match=r"pip\.conf"):
        read_index_settings({"PIP_CONFIG_FILE": str(pip)})


def test_an_address_in_a_message_has_no_credentials_and_no_query():
    assert download.plain_url("https://me:secret@a.example/x?token=1#y") == "https://a.example/x"


_LONG = "9" * 10_000


@pytest.mark.parametrize(
    "metadata",
    [
        f"Requires-Dist: next>={_LONG}\n",
        "Requires-Dist: next; python_version >= 'x' and os_name > 'y'\n",
        "Requires-Dist: next; extra in ('a',)\n",
        f"Requires-Dist: {'(' * 5000}\n",
        "Requires-Dist: next @ file:///etc/passwd\n",
        "Requires-Dist: acme[a,b,c]\nProvides-Extra: a\n",
        "\xff\n",
        "Requires-Dist: ../../etc\n",
        "Content-Type: multipart/mixed; boundary=x\n\n--x\n\n--x--\n",
    ],
)
def test_metadata_of_a_requirement_does_not_end_the_audit(index, bench, metadata):
    index.add("acme", {"acme/liba.so": b""}, metadata)
    index.add("next")
    paths = bench.wheel(metadata="Requires-Dist: acme\n")

    report = audit_paths(paths, Policy(resolve=True), jobs=1)

    assert not [finding for finding in report.findings if finding.code in ("LB604", "LB605", "LB511")]


@pytest.mark.parametrize(
    "fields",
    [{"requires-python": ">=" + _LONG}, {"requires-python": "x"}, {"yanked": "why"}, {"hashes": {"sha256": "x"}}],
)
@pytest.mark.parametrize("version", ["1.0", _LONG, "1!2+x", "x"])
def test_fields_of_a_page_do_not_end_the_audit(index, bench, fields, version):
    row = {"filename": f"acme-{version}-py3-none-any.whl", "url": "a.whl", "hashes": {}, **fields}
    page = json.dumps({"files": [row]}).encode()
    form = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
    index.answers["/simple/acme/"] = lambda request: request.answer(page, **form)
    paths = bench.wheel(metadata="Requires-Dist: acme\n")

    report = audit_paths(paths, Policy(resolve=True), jobs=1)

    assert not [finding for finding in report.findings if finding.code in ("LB604", "LB605")]


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("more", ["", "https://mirror.example/simple"])
def test_a_configuration_that_names_no_default_index_is_a_mistake_of_the_user(bench, monkeypatch, more):
    """What a further index lacks may be in the default one: nothing is known to be missing."""
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", more)
    monkeypatch.setattr("loadcheck.index.settings._find_default", lambda: "")
    monkeypatch.setattr("loadcheck.index.settings._read_pip", lambda _env: ())

    with pytest.raises(UserError, match="no default index is configured"):
        audit_paths(bench.wheel(), Policy(resolve=True))


def test_without_pip_the_default_index_is_that_of_the_pip_in_python(monkeypatch):
    default = _find_default()
    monkeypatch.setitem(sys.modules, "pip._internal.models.index", None)
    assert _find_default() == default
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert not _find_default()


def test_requirements_that_lead_in_circles_or_never_end_are_limited(index, bench):
    index.add("acme", {}, "Requires-Dist: next\n")
    index.add("next", {}, "Requires-Dist: acme\n" + "".join(f"Requires-Dist: more-{n}\n" for n in range(1000)))
    needy = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    user = bench.compiler.library("extern int odd(void);\nint f(void) { return odd(); }\n", needy).read_bytes()

    audit_paths(bench.wheel({"latenn/_x.so": user}, metadata="Requires-Dist: acme\n"), Policy(resolve=True), jobs=1)

    assert len(index.asked) < 500
