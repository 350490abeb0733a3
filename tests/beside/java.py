"""Clients of JARs."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.beside.pairs import Clients, without_proc
from tests.support.needs import require_file
from tests.support.programs import run_checked

PROGRAM = """
public class Main implements Runnable {
  public void run() { try { BODY } catch (Exception e) { throw new Error(e); } }
  public static void main(String[] words) throws Exception { MAIN }
}
"""
ONCE = "new Main().run();"


@dataclass(frozen=True)
class Place:
    """Where a client is tried with one of the two packages."""

    folder: Path
    """Empty, and its own."""
    jar: Path
    module: str
    """The name by which modules require it."""
    body: str
    """Statements that use the package, and print."""

    def run(self, *command: object, **options: object) -> str:
        """What a command printed, which must succeed."""
        return run_checked(*command, **{"cwd": self.folder, "timeout": 120, **options})

    @property
    def java(self) -> tuple[str, ...]:
        """The JVM, with a temporary folder of its own."""
        (self.folder / "temporary").mkdir(exist_ok=True)
        return "java", f"-Djava.io.tmpdir={self.folder}/temporary", "-XX:-UsePerfData"

    def compile(self, main: str = ONCE, jar: object = None) -> str:
        """Compile the program; the class path."""
        text = PROGRAM.replace("BODY", self.body).replace("MAIN", main)
        (self.folder / "Main.java").write_text(text, encoding="utf-8")
        path = os.pathsep.join(map(str, (self.folder / "classes", jar or self.jar)))
        self.run("javac", "-cp", path, "-d", "classes", "Main.java")
        return path


CLIENTS: Clients[Place] = Clients()
client = CLIENTS.add
MAINS = {
    "the class path": ONCE,
    "several threads at once": """
        Thread[] all = new Thread[8];
        for (int i = 0; i < 8; i++) (all[i] = new Thread(new Main())).start();
        for (Thread one : all) one.join();""",
    "a thread without a context class loader": """
        Thread one = new Thread(new Main()); one.setContextClassLoader(null); one.start(); one.join();""",
    "a shutdown hook": "Runtime.getRuntime().addShutdownHook(new Thread(new Main()));",
    "a parallel stream": "java.util.stream.IntStream.range(0, 8).parallel().forEach(i -> new Main().run());",
    "a class initializer": """
        class Holder { static { new Main().run(); } } new Holder();""",
    "a class loader of each plug-in, closed after": """
        java.util.List<java.net.URL> urls = new java.util.ArrayList<>();
        for (String part : System.getProperty("java.class.path").split(java.io.File.pathSeparator))
          urls.add(new java.io.File(part).toURI().toURL());
        try (java.net.URLClassLoader loader = new java.net.URLClassLoader(
            urls.toArray(new java.net.URL[0]), ClassLoader.getPlatformClassLoader())) {
          ((Runnable) loader.loadClass("Main").getConstructor().newInstance()).run();
        }""",
}
"""What a program does with the package, on the class path."""

for name, main in MAINS.items():

    @client(name)
    def start_main(at: Place, main: str = main) -> str:
        path = at.compile(main)
        return at.run(*at.java, "-cp", path, "Main")


for option in ("-Xint", "-Xshare:off", "-Djava.security.manager=allow", "-Dfile.encoding=US-ASCII", "-XX:+UseSerialGC"):

    @client(f"java {option}")
    def start_with(at: Place, option: str = option) -> str:
        path = at.compile()
        return at.run(*at.java, option, "-cp", path, "Main")


@client("java Main.java")
def start_source(at: Place) -> str:
    at.compile()
    return at.run(*at.java, "-cp", at.jar, "Main.java")


@client("jshell")
def start_shell(at: Place) -> str:
    options = ("-s", "--class-path", at.jar, f"-J-Djava.io.tmpdir={at.folder}", f"-R-Djava.io.tmpdir={at.folder}")
    return at.run("jshell", *options, "-", input=f"{at.body}\n/exit\n")


@client("the module path")
def start_module(at: Place) -> str:
    text = PROGRAM.replace("BODY", at.body).replace("MAIN", ONCE).replace("\npublic", "\npackage it;\npublic", 1)
    for file, source in {"it/Main.java": text, "module-info.java": f"module it {{ requires {at.module}; }}\n"}.items():
        (at.folder / file).parent.mkdir(exist_ok=True)
        (at.folder / file).write_text(source)
    at.run("javac", "-p", at.jar, "-d", "classes", "it/Main.java", "module-info.java")
    return at.run(*at.java, "-p", f"{at.jar}{os.pathsep}classes", "-m", "it/it.Main")


@client("one JAR with everything")
def start_merged(at: Place) -> str:
    at.compile()
    with zipfile.ZipFile(at.folder / "all.jar", "w") as merged, zipfile.ZipFile(at.jar) as own:
        merged.write(at.folder / "classes/Main.class", "Main.class")
        for entry in own.namelist():
            if not entry.endswith("/") and not entry.startswith("META-INF/"):
                merged.writestr(entry, own.read(entry))
    return at.run(*at.java, "-cp", "all.jar", "Main")


@client("java -jar, Class-Path in the manifest")
def start_manifest(at: Place) -> str:
    at.compile()
    (at.folder / "lib").mkdir()
    shutil.copy(at.jar, at.folder / "lib/it.jar")
    (at.folder / "manifest").write_text("Main-Class: Main\nClass-Path: lib/it.jar\n")
    at.run("jar", "cfm", "app.jar", "manifest", "-C", "classes", "Main.class")
    return at.run(*at.java, "-jar", "app.jar")


@client("an unpacked JAR")
def start_unpacked(at: Place) -> str:
    with zipfile.ZipFile(at.jar) as archive:
        archive.extractall(at.folder / "unpacked")
    path = at.compile(jar=at.folder / "unpacked")
    return at.run(*at.java, "-cp", path, "Main")


@client("a folder with spaces and letters that aren't ASCII")
def start_named(at: Place) -> str:
    named = at.folder / "mit Leerzeichen, Größe"
    named.mkdir()
    shutil.copy(at.jar, named / "it #%20+.jar")
    path = at.compile(jar=named / "it #%20+.jar")
    return at.run(*at.java, "-cp", path, "Main", env={**os.environ, "LC_ALL": "C.UTF-8"})


@client("a temporary folder with letters that aren't ASCII")
def start_with_named_temporary(at: Place) -> str:
    path = at.compile()
    named = at.folder / "Größe 中文"
    named.mkdir()
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    return at.run("java", f"-Djava.io.tmpdir={named}", "-cp", path, "Main", env=env)


@client("two processes, one after the other")
def start_twice(at: Place) -> str:
    path = at.compile()
    at.run(*at.java, "-cp", path, "Main")
    return at.run(*at.java, "-cp", path, "Main")


@client("without /proc", reference_fails=True, says="libjli.so")
def start_without_proc(at: Place) -> str:
    path = at.compile()
    return at.run(*without_proc(*at.java, "-cp", path, "Main"))


@client("no variable in the environment")
def start_bare(at: Place) -> str:
    path = at.compile()
    return at.run("env", "-i", shutil.which("java"), *at.java[1:], "-cp", path, "Main")


NEWER = Path("/usr/lib/jvm/temurin-25-jdk-amd64/bin/java")
TOMCAT = Path("/usr/share/java/tomcat10-embed-core.jar")
LISTENER = """
public class Listener implements jakarta.servlet.ServletContextListener {
  public void contextInitialized(jakarta.servlet.ServletContextEvent event) { new Main().run(); }
}
"""
SERVE = """
public class Serve {
  public static void main(String[] words) throws Exception {
    var tomcat = new org.apache.catalina.startup.Tomcat();
    tomcat.setBaseDir(words[0] + "/base");
    var application = tomcat.addContext("/it", words[0] + "/application");
    application.addApplicationListener("Listener");
    tomcat.start();
    ACTIONS
    tomcat.stop();
    tomcat.destroy();
  }
}
"""


@client("another JVM", version="Temurin 25")
def start_newer(at: Place) -> str:
    require_file(NEWER, "temurin-25-jdk")
    return at.run(NEWER, *at.java[1:], "-cp", at.compile(), "Main")


def serve(at: Place, actions: str) -> str:
    """What a web application prints whose libraries and classes are in its own WEB-INF."""
    require_file(TOMCAT, "libtomcat10-java")
    path = at.compile()
    inside = at.folder / "application/WEB-INF"
    (inside / "lib").mkdir(parents=True)
    shutil.copy(at.jar, inside / "lib/it.jar")
    (at.folder / "Listener.java").write_text(LISTENER, encoding="utf-8")
    (at.folder / "Serve.java").write_text(SERVE.replace("ACTIONS", actions), encoding="utf-8")
    server = os.pathsep.join(map(str, sorted(TOMCAT.parent.glob("tomcat10-*.jar"))))
    at.run("javac", "-cp", f"{server}{os.pathsep}{path}", "-d", "classes", "Listener.java")
    shutil.move(at.folder / "classes", inside / "classes")
    at.run("javac", "-cp", server, "-d", "server", "Serve.java")
    return at.run(*at.java, "-cp", f"{server}{os.pathsep}server", "Serve", at.folder)


@client("a web application", version="Tomcat 10.1")
def start_server(at: Place) -> str:
    return serve(at, "")


@client("a web application that starts again in one server", version="Tomcat 10.1")
def restart_application(at: Place) -> str:
    return serve(at, "application.stop(); application.start();")
