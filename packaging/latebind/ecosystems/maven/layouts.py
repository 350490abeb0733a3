"""Ways to start a Java program that uses JARs: class path, class loaders, modules, and an image of jlink."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from latebind.backend.programs import which
from latebind.ecosystems.maven.programs import list_used_modules
from latebind.errors import NotRun
from latebind.system.run import run

MAIN = "Main"
"""The class of the program that is started."""
_TIME_LIMIT = 300.0
_LOADERS = """\
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;

/** Loads libraries in one class loader, and runs a program in another one, as an application server does. */
public class Loaders {
  public static void main(String[] words) throws Exception {
    String[] files = words[0].split(File.pathSeparator);
    URL[] places = new URL[files.length];
    for (int index = 0; index < files.length; index++) {
      places[index] = new File(files[index]).toURI().toURL();
    }
    ClassLoader first = new URLClassLoader(places, ClassLoader.getPlatformClassLoader());
    for (String name : words[1].split(",")) {
      Class.forName(name, true, first).getMethod("load").invoke(null);
    }
    ClassLoader second = new URLClassLoader(places, ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(second);
    String[] rest = java.util.Arrays.copyOfRange(words, 2, words.length);
    Class<?> main = Class.forName("Main", true, second);
    main.getMethod("main", String[].class).invoke(null, (Object) rest);
  }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaProgram:
    """A compiled program, and what it needs."""

    jdk: Path
    classes: Path
    ours: Sequence[Path]
    """The JARs of the project."""
    others: Sequence[Path]
    libraries: Sequence[str]
    """The classes that load the libraries of the project's JARs."""
    work: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaLayout:
    """How a program is started."""

    name: str
    title: str
    start: Callable[[JavaProgram], tuple[Path, list[str | Path]]]
    """The program `java`, and what it gets after its options and before the words of the consumer. Raises NotRun."""


def start_on_class_path(program: JavaProgram) -> tuple[Path, list[str | Path]]:
    """The usual start."""
    return program.jdk / "java", ["-cp", _join(program.classes, *program.ours, *program.others), MAIN]


def _start_in_loaders(program: JavaProgram) -> tuple[Path, list[str | Path]]:
    source = program.work / "Loaders.java"
    source.write_text(_LOADERS, encoding="utf-8")
    paths = _join(program.classes, *program.ours, *program.others)
    return program.jdk / "java", [source, paths, ",".join(program.libraries)]


def _start_on_module_path(program: JavaProgram) -> tuple[Path, list[str | Path]]:
    modules = _join(*program.ours, *program.others)
    return program.jdk / "java", ["-p", modules, "--add-modules", "ALL-MODULE-PATH", "-cp", program.classes, MAIN]


def _start_in_image(program: JavaProgram) -> tuple[Path, list[str | Path]]:
    """The project's JARs are in the image; the runtime's JAR is on the class path, since the JAR has no module-info."""
    jlink = which("jlink", path=str(program.jdk))
    if jlink is None:
        raise NotRun("no-program", f"{program.jdk} has no jlink", advice="Install the whole JDK.")
    used = list_used_modules(program.jdk, program.classes)
    modules = [*used, *(name.rpartition(".")[0] for name in program.libraries)]
    image = program.work / "image"
    options: list[str | Path] = ["-p", _join(*program.ours), "--add-modules", ",".join(modules), "--output", image]
    run([jlink, *options], timeout=_TIME_LIMIT)
    return image / "bin" / "java", ["-cp", _join(program.classes, *program.others), MAIN]


def _start_in_folders(program: JavaProgram) -> tuple[Path, list[str | Path]]:
    """Each JAR unpacked into a folder of classes, as an IDE runs it."""
    folders = [program.work / "unpacked" / jar.stem for jar in program.ours]
    for jar, folder in zip(program.ours, folders, strict=True):
        shutil.unpack_archive(jar, folder, "zip")
    return program.jdk / "java", ["-cp", _join(program.classes, *folders, *program.others), MAIN]


def _start_merged(program: JavaProgram) -> tuple[Path, list[str | Path]]:
    """One JAR with all, as shading makes it."""
    folder = shutil.copytree(program.classes, program.work / "merged")
    for jar in (*program.ours, *program.others):
        shutil.unpack_archive(jar, folder, "zip")
    merged = shutil.make_archive(str(folder), "zip", folder)
    return program.jdk / "java", ["-cp", merged, MAIN]


LAYOUTS: tuple[JavaLayout, ...] = (
    JavaLayout(name="java-folders", title="with the JARs unpacked into folders of classes", start=_start_in_folders),
    JavaLayout(name="java-merged", title="merged into one JAR with all that it needs", start=_start_merged),
    JavaLayout(name="java-loaders", title="loaded by two class loaders, as in an application server",
               start=_start_in_loaders),
    JavaLayout(name="java-module-path", title="with the JARs on the module path", start=_start_on_module_path),
    JavaLayout(name="java-jlink", title="with the JARs in an image of jlink", start=_start_in_image),
)  # fmt: skip


def find_start(name: str) -> Callable[[JavaProgram], tuple[Path, list[str | Path]]]:
    """How a consumer is started."""
    return next((layout.start for layout in LAYOUTS if layout.name == name), start_on_class_path)


def _join(*paths: Path) -> str:
    return os.pathsep.join(map(str, paths))
