"""NativeLibrary beside JNA in class loaders of servers, and what it says of a temporary folder that it cannot use."""

import os
import shutil
from pathlib import Path

import pytest

from tests.ecosystems.maven.test_jar import pack_jar
from tests.support.needs import require_mounts, require_programs
from tests.support.running import run_checked, run_program

JNA = Path("/usr/share/java/jna.jar")
OURS, THEIRS = "io.github.acme.tiny.NativeLibrary", "com.sun.jna.Native"
HOST = """
import java.io.*;
import java.net.*;
import java.util.*;
import java.util.jar.*;
public class Main {
  /** Has its files in memory, and gives them by URLs of its own kind, or as streams only. */
  static class InMemory extends ClassLoader {
    final Map<String, byte[]> files = new HashMap<>();
    final boolean hasUrls;
    InMemory(boolean hasUrls, String jar) throws Exception {
      super(ClassLoader.getPlatformClassLoader());
      this.hasUrls = hasUrls;
      try (JarInputStream in = new JarInputStream(new FileInputStream(jar))) {
        for (JarEntry entry; (entry = in.getNextJarEntry()) != null;) files.put(entry.getName(), in.readAllBytes());
      }
    }
    @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] data = files.get(name.replace('.', '/') + ".class");
      if (data == null) throw new ClassNotFoundException(name);
      return defineClass(name, data, 0, data.length);
    }
    @Override protected URL findResource(String name) {
      if (!hasUrls || !files.containsKey(name)) return null;
      URLStreamHandler handler = new URLStreamHandler() {
        protected URLConnection openConnection(URL url) {
          return new URLConnection(url) {
            public void connect() {}
            public InputStream getInputStream() throws IOException {
              byte[] data = files.get(getURL().getPath().substring(1));
              if (data == null) throw new FileNotFoundException(getURL().toString());
              return new ByteArrayInputStream(data);
            }
          };
        }
      };
      try { return new URL(null, "mem:/" + name, handler); } catch (MalformedURLException e) { throw new Error(e); }
    }
    @Override public InputStream getResourceAsStream(String name) {
      byte[] data = files.get(name);
      return data == null ? super.getResourceAsStream(name) : new ByteArrayInputStream(data);
    }
  }
  public static void main(String[] words) throws Exception {
    URL[] jar = {new File(words[1]).toURI().toURL()};
    ClassLoader loader = words[0].equals("files") ? new URLClassLoader(jar, ClassLoader.getPlatformClassLoader())
        : new InMemory(words[0].equals("urls"), words[1]);
    Class<?> type = Class.forName(words[2], true, loader); // JNA loads its library by its initializer
    if (words[2].startsWith("io.github")) type.getMethod("load").invoke(null);
    System.out.println("works");
  }
}
"""
BUNDLES = """
import java.util.*;
import org.osgi.framework.*;
import org.osgi.framework.launch.*;
public class Main {
  public static void main(String[] words) {
    try {
      start(words);
    } catch (Exception error) {
      error.printStackTrace();
      System.exit(1); // the framework's threads go on
    }
    System.exit(0);
  }
  static void start(String[] words) throws Exception {
    Map<String, String> settings = Map.of("org.osgi.framework.storage", words[0], "felix.cache.rootdir", words[0]);
    Framework framework = ServiceLoader.load(FrameworkFactory.class).iterator().next().newFramework(settings);
    framework.start();
    Bundle bundle = framework.getBundleContext().installBundle("file:" + words[1]);
    bundle.start();
    Class<?> type = Class.forName(words[2], true, bundle.loadClass(words[2]).getClassLoader());
    if (words[2].startsWith("io.github")) type.getMethod("load").invoke(null);
    System.out.println("works, " + bundle.getSymbolicName() + " " + bundle.getVersion());
    framework.stop();
    framework.waitForStop(0);
  }
}
"""
FRAMEWORKS = ("org.apache.felix.framework", "eclipse-osgi")
"""Debian's libfelix-framework-java and libequinox-osgi-java."""
CLEANED = """
import java.io.File;
import java.nio.file.*;
public class Main {
  public static void main(String[] words) throws Exception {
    Path first = io.github.acme.tiny.NativeLibrary.load();
    for (File file : first.getParent().toFile().listFiles()) file.delete();
    Files.delete(first.getParent());
    DO
    System.out.println(Files.size(io.github.other.tiny.NativeLibrary.load()) > 0);
    System.out.println(Files.size(io.github.acme.tiny.NativeLibrary.path()) > 0);
  }
}
"""
LOAD = """
public class Main {
  public static void main(String[] words) {
    System.out.println(io.github.acme.tiny.NativeLibrary.load());
  }
}
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def jars(tmp_path_factory):
    """JARs of two packages."""
    require_programs("java", "javac")
    first, second = (tmp_path_factory.mktemp(name) for name in ("acme", "other"))
    table = '\n[package.tiny.maven]\ngroup = "io.github.{}"\nname = "tiny"\n'
    made = [pack_jar(folder, table.format(folder.name[:-1]))["jar"] for folder in (first, second)]
    return [str(shutil.copy(jar, jar.with_name(f"{index}.jar"))) for index, jar in enumerate(made)]


def compile_java(folder, text, jars):
    (folder / "Main.java").write_text(text)
    paths = os.pathsep.join([str(folder), *jars])
    run_checked("javac", "-cp", paths, "-d", folder, folder / "Main.java")
    return ["java", f"-Djava.io.tmpdir={folder}", "-cp", paths, "Main"]


@pytest.mark.parametrize("kind", ["files", "urls", "streams"])
def test_where_jna_works_our_class_does(jars, tmp_path, kind):
    command = compile_java(tmp_path, HOST, [])
    ours = run_program(*command, kind, jars[0], OURS)
    assert ours.stdout == "works\n", ours.stderr
    if JNA.is_file():
        theirs = run_program(*command, kind, JNA, THEIRS)
        assert theirs.stdout == "works\n", theirs.stderr


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_jar_is_a_bundle_of_osgi_as_jna_is(jars, tmp_path, framework):
    file = JNA.with_name(f"{framework}.jar")
    if not file.is_file():
        pytest.skip(f"not run: there is no {file} here")
    command = compile_java(tmp_path, BUNDLES, [str(file)])
    ours = run_program(*command, tmp_path / "ours", jars[0], OURS)
    assert ours.stdout == "works, io.github.acme.tiny 1.2.3\n", ours.stderr
    # Debian's Felix knows no JavaSE of today, which JNA requires.
    if JNA.is_file() and framework != "org.apache.felix.framework":
        theirs = run_program(*command, tmp_path / "theirs", JNA, THEIRS)
        assert theirs.stdout.startswith("works, com.sun.jna "), theirs.stderr


@pytest.mark.parametrize(
    "do",
    [
        "",
        "Files.createDirectory(first.getParent());",
        'Files.createSymbolicLink(first.getParent(), Path.of("/nowhere"));',
        "Path there = Files.createDirectory(first.getParent()); new File(there.toString()).setWritable(true, false);",
    ],
    ids=["gone", "made again", "a link", "everybody may write"],
)
def test_a_folder_that_was_cleaned_is_made_again(jars, tmp_path, do):
    command = compile_java(tmp_path, CLEANED.replace("DO", do), jars)
    ended = run_program(*command)
    assert ended.stdout == "true\ntrue\n", ended.stderr
    made = [Path(path) for path in tmp_path.glob("latebind-*") if path.is_dir() and list(path.iterdir())]
    assert made == []  # nothing was put into a folder that others may change


@pytest.mark.parametrize(
    ("options", "before", "says"),
    [
        ("noexec", "", "since no program may run from its file system (noexec): set -Djava.io.tmpdir"),
        ("ro", "", "is on a read-only file system: set -Djava.io.tmpdir"),
        ("size=64k", "head -c 65536 /dev/zero > FOLDER/fill;", "is full: set -Djava.io.tmpdir"),
    ],
)
def test_a_temporary_folder_that_cannot_be_used_is_explained(jars, tmp_path, options, before, says):
    command = compile_java(tmp_path, LOAD, jars[:1])
    folder = tmp_path / "mounted"
    folder.mkdir()
    mount = f"mount --make-rprivate / && mount -t tmpfs -o {options} none {folder}"
    require_mounts()
    words = [word.replace(str(command[1]), f"-Djava.io.tmpdir={folder}") for word in command]
    script = f'{mount} && {before.replace("FOLDER", str(folder))} exec "$@"'
    ended = run_program("unshare", "-m", "sh", "-c", script, "sh", *words, "-XX:-UsePerfData")
    assert ended.returncode == 1
    assert says in ended.stderr
    assert "-Dio.github.acme.tiny.library" in ended.stderr
    again = run_program(*command)  # as it says: with another folder
    assert again.returncode == 0, again.stderr
