"""Another user's files where a program may look: however often each set-up starts, none of that user's code runs.

`foreign` prints a line when it is loaded. A set-up arranges the files and returns what the user starts. What changes
while the program runs is in `test_what_happens_to_the_library_while_it_runs`; what changes all the time, in
`test_links_that_are_turned_all_the_time`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.loader.places import ATTACKER, CAPI, GROUP, LIBRARY, NODE, USER, Site, make_site

if TYPE_CHECKING:
    from tests.support.building import Programs

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="not run: only root can make files of several users"
    ),
    pytest.mark.slow,
]
SITES = "env/lib/python3.11/site-packages"
NOBODY, THIRD = 65534, 23457
STARTS = int(os.environ.get("LATEBIND_STARTS", "100"))
"""1,000 takes minutes: set the variable before a release."""


@dataclass(frozen=True)
class Start:
    """What the user starts."""

    command: list[object]
    env: dict[str, object] = field(default_factory=dict)
    user: int = USER


@pytest.fixture
def site(plain: Programs) -> Iterator[Site]:
    with make_site(plain) as made:
        yield made


def find(*names: str) -> None:
    """Skips where a program of the system is missing."""
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"not run: {name} is missing: apt-get install acl util-linux libcap2-bin")


def own(path: Path, user: int, group: int | None = None, mode: int | None = None) -> Path:
    """Sets owner, group and mode of a place."""
    os.chown(path, user, user if group is None else group, follow_symlinks=False)
    if mode is not None:
        path.chmod(mode)
    return path


def link(path: Path, target: Path | str, owner: int = USER) -> Path:
    """A link of a user."""
    path.symlink_to(target)
    return own(path, owner)


def change_list(path: Path, *rules: str, default: bool = False) -> None:
    """Adds rules to an access control list."""
    find("setfacl")
    program = str(shutil.which("setfacl"))
    for rule in rules:
        subprocess.run([program, *(["-d"] if default else []), "-m", rule, path], check=True)


def host(site: Site, folder: str = "app", *, owner: int = USER) -> list[object]:
    """A host of the tests, and a library with the stub in a folder of its owner."""
    return [site.programs.folder / "host", site.install("libmine.so", folder, owner=owner)]


def activate(site: Site) -> dict[str, object]:
    """The environment in env is active."""
    return {"VIRTUAL_ENV": site.base / "env"}


def plant(site: Site, folder: str = f"{SITES}/{CAPI}", **options: object) -> Path:
    """The attacker's runtime."""
    return site.add_runtime(folder, **options)  # type: ignore[arg-type]


# ---- places of others --------------------------------------------------------------------------------------------


def environment_of_another(site: Site) -> Start:
    plant(site)
    return Start(host(site), activate(site))


def conda_of_another(site: Site) -> Start:
    plant(site, "env/lib")
    return Start(host(site), {"CONDA_PREFIX": site.base / "env"})


def home_of_another(site: Site) -> Start:
    plant(site, f"home/.local/lib/python3.11/site-packages/{CAPI}")
    return Start(host(site), {"HOME": site.base / "home"})


def home_of_another_for_root(site: Site) -> Start:
    start = home_of_another(site)
    return Start(start.command, start.env, user=0)


def modules_above(site: Site) -> Start:
    plant(site, NODE)
    return Start(host(site, "deep/er/app"))


def packages_above(site: Site) -> Start:
    plant(site, CAPI)
    return Start(host(site, "deep/er/app"))


def next_to_it_in_a_sticky_folder(site: Site) -> Start:
    plant(site, "")
    return Start([site.programs.folder / "host", site.install("libmine.so", "")])


def in_a_sticky_site_packages(site: Site) -> Start:
    command = host(site, f"{SITES}/pkg", owner=0)
    own(site.base / SITES, 0, mode=0o1777)
    plant(site)
    return Start(command)


def native_folder_of_dotnet(site: Site) -> Start:
    plant(site, "app/runtimes/linux-x64/native", name="libonnxruntime.so")
    return Start(host(site))


def extracted_program(site: Site) -> Start:
    site.mark("_MEI1/base_library.zip", owner=USER) if (site.base / "_MEI1").exists() else None
    command = host(site, "_MEI1/pkg/lib")
    plant(site, f"_MEI1/{CAPI}")
    return Start(command)


def hard_link_to_a_file_of_another(site: Site) -> Start:
    command = host(site)
    os.link(plant(site, "theirs"), site.base / "app" / LIBRARY)
    return Start(command)


def file_of_another_in_a_closed_folder(site: Site) -> Start:
    command = host(site)
    path = plant(site, "app")
    path.parent.chmod(0o700)
    return Start(command)


def nobodys_file_next_to_nobodys_library(site: Site) -> Start:
    """All users that a file server doesn't know have this number."""
    command = host(site, owner=NOBODY)
    own(plant(site, "app"), NOBODY)
    return Start(command)


# ---- user namespaces ---------------------------------------------------------------------------------------------


def namespace(*options: str) -> Callable[[Site], Start]:
    def arrange(site: Site) -> Start:
        find("unshare")
        command = host(site, "opt/app", owner=0)
        plant(site)
        return Start([shutil.which("unshare"), *options, *command], activate(site))

    return arrange


def namespace_and_sticky_packages(site: Site) -> Start:
    find("unshare")
    start = in_a_sticky_site_packages(site)
    return Start([shutil.which("unshare"), "-U", "-r", *start.command])


def namespace_and_group_of_nobody(site: Site) -> Start:
    """Groups that the namespace lacks are one, too."""
    find("unshare")
    command = host(site, "opt/app", owner=0)
    own(command[1], 0, GROUP, 0o775)  # type: ignore[arg-type]
    own(site.base / "opt/app", 0, GROUP, 0o775)
    path = plant(site, owner=USER)
    for place in (path, *path.parents[:6]):
        own(place, USER, GROUP + 1, 0o775)
    return Start([shutil.which("unshare"), "-U", "-r", *command], activate(site))


# ---- access control lists ----------------------------------------------------------------------------------------


def mask_of_the_own_list(site: Site) -> Start:
    """The mask looks like the group's right to change the library."""
    command = host(site)
    own(command[1], USER, GROUP, 0o644)  # type: ignore[arg-type]
    change_list(command[1], f"u:{THIRD}:rw")  # type: ignore[arg-type]
    for place in (path := plant(site, owner=USER), path.parent):
        own(place, USER, GROUP, 0o775)
    return Start(command, activate(site))


def list_of(place: str, rule: str) -> Callable[[Site], Start]:
    """A list on the runtime's file or on a folder above it."""

    def arrange(site: Site) -> Start:
        command = host(site)
        path = plant(site, owner=USER)
        change_list({"file": path, "folder": path.parent, "above": path.parents[2]}[place], rule)
        return Start(command, activate(site))

    return arrange


def list_of_those_who_do_not_reach_the_library(site: Site) -> Start:
    """The attacker may change the library, but can't get to it."""
    command = host(site, "closed/app")
    change_list(command[1], f"u:{ATTACKER}:rwx")  # type: ignore[arg-type]
    (site.base / "closed").chmod(0o700)
    plant(site)
    return Start(command, activate(site))


def list_that_keeps_out(site: Site) -> Start:
    """Everybody may enter, but for the attacker."""
    command = host(site, "closed/app")
    own(command[1], USER, mode=0o777)  # type: ignore[arg-type]
    change_list(site.base / "closed", f"u:{ATTACKER}:---")
    plant(site)
    return Start(command, activate(site))


# ---- modes of the library's own file -----------------------------------------------------------------------------


def open_file_in_a_closed_folder(mode: int, group: int) -> Callable[[Site], Start]:
    """Everybody, or a group, may write to the library, but nobody else gets to it."""

    def arrange(site: Site) -> Start:
        command = host(site, "closed/app")
        own(command[1], USER, group, mode)  # type: ignore[arg-type]
        own(site.base / "closed/app", USER, group, mode)
        (site.base / "closed").chmod(0o700)
        path = plant(site, owner=USER if group == GROUP else ATTACKER)
        for place in (path, path.parent):
            own(place, place.stat().st_uid, group, mode)
        return Start(command, activate(site))

    return arrange


def folder_of_a_group_without_the_others(site: Site) -> Start:
    """What the members of a group can't reach, they can't replace."""
    command = host(site, "closed/app")
    own(site.base / "closed/app", USER, GROUP, 0o775)
    own(site.base / "closed", USER, mode=0o705)
    path = plant(site, owner=USER)
    own(path.parent, USER, GROUP, 0o775)
    return Start(command, activate(site))


def runtime_of_another_group(site: Site) -> Start:
    command = host(site)
    path = plant(site, owner=USER)
    own(path.parent, USER, GROUP, 0o775)
    return Start(command, activate(site))


def team_in_a_sticky_folder(site: Site) -> Start:
    """In a sticky folder, the team can't remove what another left there."""
    command = host(site, f"{SITES}/pkg")
    own(site.base / SITES, USER, GROUP, 0o3777)
    for place in (path := plant(site), path.parent, path.parents[1]):
        own(place, ATTACKER, GROUP)
    return Start(command)


def group_of_a_team_in_a_folder_of_everybody(site: Site) -> Start:
    command = host(site, f"{SITES}/pkg")
    own(site.base / SITES, USER, GROUP, 0o2777)
    for place in (path := plant(site), path.parent, path.parents[1]):
        own(place, ATTACKER, GROUP)
    return Start(command)


def left_the_team(site: Site) -> Start:
    """Its group is the attacker's, not the team's."""
    command = host(site, f"{SITES}/pkg")
    own(site.base / SITES, USER, GROUP, 0o2775)
    plant(site)
    return Start(command)


def member_kept_out_by_the_mode(site: Site) -> Start:
    """Everybody may write to the library but the members of its group, and the attacker is one."""
    command = host(site)
    own(command[1], USER, GROUP, 0o606)  # type: ignore[arg-type]
    plant(site)
    return Start(command, activate(site))


def user_kept_out_by_the_list_of_the_file(site: Site) -> Start:
    command = host(site)
    own(command[1], USER, mode=0o777)  # type: ignore[arg-type]
    change_list(command[1], f"u:{ATTACKER}:---")  # type: ignore[arg-type]
    plant(site)
    return Start(command, activate(site))


def member_kept_out_by_a_list_above(site: Site) -> Start:
    command = host(site, "closed/app")
    own(command[1], USER, GROUP, 0o664)  # type: ignore[arg-type]
    change_list(site.base / "closed", f"u:{ATTACKER}:---", f"g:{GROUP}:r-x")
    for place in (path := plant(site, owner=USER), path.parent):
        own(place, USER, GROUP, 0o775)
    return Start(command, activate(site))


def list_of_unknown_users_in_a_namespace(site: Site) -> Start:
    """The kernel gives all users that the namespace lacks one number there, too: -1."""
    find("unshare")
    command = host(site, "opt/app")
    change_list(command[1], f"u:{THIRD}:rw")  # type: ignore[arg-type]
    change_list(plant(site, owner=USER), f"u:{ATTACKER}:rw")
    return Start([shutil.which("unshare"), "-U", "-r", *command], activate(site))


def group_of_root(site: Site) -> Start:
    """Its members aren't root."""
    command = host(site)
    for place in (path := plant(site, owner=0), path.parent):
        own(place, 0, 0, 0o775)
    return Start(command, activate(site))


def folder_that_the_systems_loader_calls_by_another_name(site: Site) -> Start:
    """glibc replaces $LIB and $PLATFORM in paths that dlopen() gets."""
    command = host(site)
    site.add_runtime("$PLATFORM/lib", owner=USER, stand_in="good")
    plant(site, "x86_64/lib")
    return Start(command, {"CONDA_PREFIX": site.base / "$PLATFORM"})


# ---- ids and rights ----------------------------------------------------------------------------------------------


def effective(kind: str) -> Callable[[Site], Start]:
    """A daemon that works for a client: the client's files aren't the daemon's."""

    def arrange(site: Site) -> Start:
        command = host(site, f"{SITES}/pkg", owner=0)
        own(site.base / SITES, 0, mode=0o1777)
        path = plant(site, owner=0 if kind == "egid" else ATTACKER)  # a thread has all ids of the client
        if kind == "egid":
            for place in (path, path.parent):
                own(place, 0, ATTACKER, 0o775)
        return Start([*command, kind, ATTACKER], user=0)

    return arrange


def raised(mode: int) -> Callable[[Site], Start]:
    """A set-id program in the hands of the attacker."""

    def arrange(site: Site) -> Start:
        program = site.install("service", "bin", owner=0)
        program.chmod(mode)
        path = plant(site)
        plant(site, "theirs")
        environment = {**activate(site), "ONNXRUNTIME_LIB_PATH": path, "LD_LIBRARY_PATH": path.parent}
        return Start([program], environment, user=ATTACKER)

    return arrange


def capabilities(site: Site) -> Start:
    setcap = shutil.which("setcap", path=f"/sbin:/usr/sbin:{os.environ.get('PATH', '')}")
    if setcap is None:
        pytest.skip("not run: setcap is missing: apt-get install libcap2-bin")
    start = raised(0o755)(site)
    subprocess.run([setcap, "cap_net_raw+ep", str(start.command[0])], check=True)
    return start


def set_id_program_called_by_a_link(site: Site) -> Start:
    start = raised(0o4755)(site)
    plant(site, "mine")
    return Start([link(site.base / "mine/service", start.command[0], ATTACKER)], user=ATTACKER)  # type: ignore[arg-type]


# ---- links -------------------------------------------------------------------------------------------------------


def link_to(place: str, target: str, owner: int = USER) -> Callable[[Site], Start]:
    """A link of `owner` in the way, and the attacker's runtime behind it."""

    def arrange(site: Site) -> Start:
        command = host(site, f"{SITES}/pkg")
        plant(site, f"theirs/{CAPI}")
        (site.base / place).parent.mkdir(parents=True, exist_ok=True)
        for folder in (site.base / place).relative_to(site.base).parents[:-1]:
            own(site.base / folder, USER)
        link(site.base / place, site.base / target, owner)
        return Start(command)

    return arrange


def link_over_a_folder_of_another(site: Site) -> Start:
    """Its target is safe now: the owner of the folder in between decides where it leads."""
    command = host(site)
    site.add_runtime("safe", owner=USER)
    site.make_folders("theirs/inner", ATTACKER)
    link(site.base / "app" / LIBRARY, f"../theirs/inner/../../safe/{LIBRARY}")
    return Start(command)


def link_of_another_in_between(site: Site) -> Start:
    command = host(site)
    site.add_runtime("safe", owner=USER)
    site.make_folders("theirs", ATTACKER)
    link(site.base / "theirs/current", site.base / "safe" / LIBRARY, ATTACKER)
    link(site.base / "app" / LIBRARY, site.base / "theirs/current")
    return Start(command)


def long_chain_of_links(site: Site) -> Start:
    command = host(site)
    site.make_folders("chain", USER)
    last = plant(site, "theirs")
    for number in range(12):
        last = link(site.base / f"chain/{number}", last)
    link(site.base / "app" / LIBRARY, last)
    return Start(command)


def circle_of_links(site: Site) -> Start:
    command = host(site)
    link(site.base / "app" / LIBRARY, "other")
    link(site.base / "app/other", LIBRARY)
    plant(site, CAPI)
    return Start(command)


def library_opened_by_a_link_of_another(site: Site) -> Start:
    """Links may lead to the library: those who made them choose nothing."""
    command = host(site)
    plant(site, "theirs")
    return Start([command[0], link(site.base / "theirs/libmine.so", command[1], ATTACKER)])  # type: ignore[arg-type]


SET_UPS: dict[str, Callable[[Site], Start]] = {
    arrange.__name__: arrange
    for arrange in (
        environment_of_another,
        conda_of_another,
        home_of_another,
        home_of_another_for_root,
        modules_above,
        packages_above,
        next_to_it_in_a_sticky_folder,
        in_a_sticky_site_packages,
        native_folder_of_dotnet,
        extracted_program,
        hard_link_to_a_file_of_another,
        file_of_another_in_a_closed_folder,
        nobodys_file_next_to_nobodys_library,
        namespace_and_sticky_packages,
        namespace_and_group_of_nobody,
        mask_of_the_own_list,
        list_of_those_who_do_not_reach_the_library,
        list_that_keeps_out,
        folder_of_a_group_without_the_others,
        runtime_of_another_group,
        team_in_a_sticky_folder,
        group_of_a_team_in_a_folder_of_everybody,
        left_the_team,
        member_kept_out_by_the_mode,
        user_kept_out_by_the_list_of_the_file,
        member_kept_out_by_a_list_above,
        list_of_unknown_users_in_a_namespace,
        group_of_root,
        folder_that_the_systems_loader_calls_by_another_name,
        capabilities,
        set_id_program_called_by_a_link,
        link_over_a_folder_of_another,
        link_of_another_in_between,
        long_chain_of_links,
        circle_of_links,
        library_opened_by_a_link_of_another,
    )
} | {
    "namespace_without_a_map": namespace("-U"),
    "namespace_with_the_user_as_root": namespace("-U", "-r"),
    "namespace_with_mounts": namespace("-U", "-r", "-m"),
    "list_on_the_file": list_of("file", f"u:{ATTACKER}:rw"),
    "list_on_the_folder": list_of("folder", f"u:{ATTACKER}:rwx"),
    "list_on_a_folder_above": list_of("above", f"u:{ATTACKER}:rwx"),
    "list_for_a_group": list_of("folder", f"g:{GROUP}:rwx"),
    "everybodys_file_in_a_closed_folder": open_file_in_a_closed_folder(0o777, USER),
    "groups_file_in_a_closed_folder": open_file_in_a_closed_folder(0o775, GROUP),
    "effective_user": effective("euid"),
    "effective_group": effective("egid"),
    "thread_with_ids_of_its_own": effective("thread"),
    "set_user_id": raised(0o4755),
    "set_group_id": raised(0o2755),
    "link_to_the_file": link_to(f"{SITES}/pkg/{LIBRARY}", f"theirs/{CAPI}/{LIBRARY}"),
    "link_to_the_folder": link_to(f"{SITES}/onnxruntime/capi", f"theirs/{CAPI}"),
    "link_to_the_package": link_to(f"{SITES}/onnxruntime", "theirs/onnxruntime"),
    "link_to_the_modules": link_to("env/node_modules", "theirs"),
}


def start_often(site: Site, start: Start, *, count: int = STARTS, seconds: int = 0) -> tuple[int, int]:
    """How often a program was started, and how often foreign code ran."""
    driver = [site.programs.folder / "starts", start.user, count, seconds]
    env = {name: str(value) for name, value in start.env.items()}
    done = subprocess.run(
        [str(part) for part in (*driver, *start.command)],
        cwd="/",
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    starts, foreign = done.stdout.split()
    return int(starts), int(foreign)


@pytest.mark.parametrize("name", SET_UPS)
def test_no_foreign_code_runs_however_often_it_starts(site, name):
    starts, foreign = start_often(site, SET_UPS[name](site))
    assert (starts, foreign) == (STARTS, 0)


# ---- links that another user turns while programs start ----------------------------------------------------------


def turned_link(site: Site) -> tuple[Start, Path, Path]:
    start = link_of_another_in_between(site)
    path = plant(site, "theirs", name="evil.so")
    return start, site.base / "theirs/current", link(site.base / "theirs/other", path, ATTACKER)


def turned_folder(site: Site) -> tuple[Start, Path, Path]:
    command = host(site)
    for name, owner, stand_in in (("good", USER, "good"), ("bad", ATTACKER, "foreign")):
        site.add_runtime(f"theirs/{name}/capi", owner=owner, stand_in=stand_in)
    own(site.base / "theirs", ATTACKER)
    site.make_folders("app/onnxruntime", USER)
    link(site.base / "app/onnxruntime/capi", site.base / "theirs/good/capi")
    return Start(command), site.base / "theirs/good", site.base / "theirs/bad"


def turned_environment(site: Site) -> tuple[Start, Path, Path]:
    command = host(site)
    site.add_runtime(f"theirs/good/lib/python3.11/site-packages/{CAPI}", owner=USER, stand_in="good")
    plant(site, f"theirs/bad/lib/python3.11/site-packages/{CAPI}")
    own(site.base / "theirs", ATTACKER)
    links = [link(site.base / f"theirs/{name}-link", site.base / "theirs" / name, ATTACKER) for name in ("good", "bad")]
    return Start(command, {"VIRTUAL_ENV": links[0]}), links[0], links[1]


@pytest.mark.parametrize("arrange", [turned_link, turned_folder, turned_environment])
def test_links_that_are_turned_all_the_time(site, arrange):
    start, one, other = arrange(site)
    exchanger = subprocess.Popen(
        [site.programs.folder / "exchange", one, other], user=ATTACKER, group=ATTACKER, extra_groups=[]
    )
    try:
        starts, foreign = start_often(site, start, seconds=STARTS // 100)
        assert exchanger.poll() is None
    finally:
        exchanger.kill()
        exchanger.wait()
    assert starts >= STARTS
    assert foreign == 0


# ---- what happens to the library's own file after it was opened --------------------------------------------------


def as_attacker(*command: object) -> None:
    subprocess.run(
        [str(part) for part in command],
        user=ATTACKER,
        group=ATTACKER,
        extra_groups=[],
        check=False,
        capture_output=True,
    )


def take_over(site: Site, folder: Path, name: str) -> None:
    """The attacker makes a folder of that name, with a file that the kernel would call deleted, and a runtime."""
    as_attacker("mkdir", "-p", "-m", "755", folder)
    as_attacker("cp", site.programs.stand_in("foreign"), folder / LIBRARY)
    as_attacker("cp", site.programs.stand_in("good"), folder / name)


def folder_is_removed(site: Site, library: Path) -> None:
    shutil.rmtree(library.parent)
    take_over(site, library.parent, f"{library.name} (deleted)")


def folder_is_removed_and_the_same_name_made(site: Site, library: Path) -> None:
    shutil.rmtree(library.parent)
    take_over(site, library.parent, library.name)


def folder_is_removed_and_links_lead_to_the_library(site: Site, library: Path) -> None:
    """The library has another name in a cache: the attacker's links lead to the very file that is mapped."""
    cache = site.make_folders("cache", USER)
    os.link(library, cache / "kept.so")
    shutil.rmtree(library.parent)
    as_attacker("mkdir", "-m", "755", library.parent)
    as_attacker("cp", site.programs.stand_in("foreign"), library.parent / LIBRARY)
    for name in (library.name, f"{library.name} (deleted)"):
        as_attacker("ln", "-s", cache / "kept.so", library.parent / name)


def folder_is_removed_and_a_hard_link_made(site: Site, library: Path) -> None:
    """Where the kernel lets everybody make hard links (fs.protected_hardlinks = 0)."""
    cache = site.make_folders("cache", USER)
    os.link(library, cache / "kept.so")
    shutil.rmtree(library.parent)
    take_over(site, library.parent, "unused")
    for name in (library.name, f"{library.name} (deleted)"):
        os.link(cache / "kept.so", library.parent / name)


def folder_is_renamed(site: Site, library: Path) -> None:
    library.parent.rename(library.parent.with_name("moved"))
    take_over(site, library.parent, library.name)


def file_is_removed_from_a_sticky_folder(site: Site, library: Path) -> None:
    own(library.parent, 0, mode=0o1777)
    library.unlink()
    take_over(site, library.parent, f"{library.name} (deleted)")
    as_attacker("chmod", "777", library.parent / f"{library.name} (deleted)")


def file_is_replaced_by_anothers(site: Site, library: Path) -> None:
    own(library.parent, 0, mode=0o1777)
    library.unlink()
    take_over(site, library.parent, library.name)


def file_is_moved_away(site: Site, library: Path) -> None:
    own(library.parent, 0, mode=0o1777)
    library.rename(site.make_folders("elsewhere", USER) / library.name)
    take_over(site, library.parent, library.name)


@pytest.mark.parametrize("root", [False, True], ids=["user", "root"])
@pytest.mark.parametrize(
    "happen",
    [
        folder_is_removed,
        folder_is_removed_and_the_same_name_made,
        folder_is_removed_and_links_lead_to_the_library,
        folder_is_removed_and_a_hard_link_made,
        folder_is_renamed,
        file_is_removed_from_a_sticky_folder,
        file_is_replaced_by_anothers,
        file_is_moved_away,
    ],
)
def test_what_happens_to_the_library_while_it_runs(plain, happen, root):
    user = 0 if root else USER
    for _ in range(max(STARTS // 20, 5)):
        with make_site(plain) as site:
            program, library = host(site, "x-123", owner=user)
            assert isinstance(library, Path)
            running = subprocess.Popen(
                [str(program), library, "wait"], user=user, group=user, extra_groups=[], cwd="/", env={},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert running.stdout
            assert running.stdout.readline() == "READY\n"
            happen(site, library)
            printed, _ = running.communicate("\n", timeout=60)
            assert "FOREIGN CODE RUNS" not in printed
            assert printed.startswith("ONNX Runtime")


# ---- mounts ------------------------------------------------------------------------------------------------------

MOUNTS = {
    "another_file_system_over_the_library": 'mount --bind "$THEIRS" "$APP"',
    "the_library_of_a_file_system_that_is_gone": 'umount -l "$APP"',
    "an_overlay_that_another_user_may_change": (
        'mount -t overlay overlay -o "lowerdir=$APP,upperdir=$UPPER,workdir=$WORK" "$APP"'
    ),
}


@pytest.mark.parametrize("name", MOUNTS)
def test_what_is_mounted_while_the_library_runs(site, name):
    """The library is opened first, from a file system of its own; then the mounts change."""
    find("unshare", "setpriv")
    app = site.make_folders("app", ATTACKER if "gone" in name else USER)
    theirs = plant(site, "theirs").parent
    shutil.copy(site.programs.folder / "libmine.so", theirs)
    if "gone" in name:
        shutil.copy(theirs / LIBRARY, app)
        shutil.copy(theirs / "libmine.so", app)
        for path in app.iterdir():
            own(path, ATTACKER)
    upper, work = (site.make_folders(folder, ATTACKER) for folder in ("layers/upper", "layers/work"))
    shutil.copy(theirs / LIBRARY, upper)
    own(upper / LIBRARY, ATTACKER)
    script = f"""
mount --make-rprivate / && mount -t tmpfs none "$APP" && chmod 755 "$APP" && cp "$MINE" "$APP/libmine.so" || exit 77
chown -R {USER}:{USER} "$APP"
mkfifo "$BASE/go" "$BASE/ready" && chmod 666 "$BASE/go" "$BASE/ready"
setpriv --reuid={USER} --regid={USER} --clear-groups "$HOST" "$APP/libmine.so" wait <"$BASE/go" >"$BASE/out" &
exec 3>"$BASE/go"
for try in 1 2 3 4 5 6 7 8 9 10; do grep -q READY "$BASE/out" && break; sleep 0.1; done
{MOUNTS[name]} || exit 77
echo >&3; exec 3>&-
wait
"""
    names = {"APP": app, "THEIRS": theirs, "UPPER": upper, "WORK": work, "BASE": site.base}
    names |= {"MINE": site.programs.folder / "libmine.so", "HOST": site.programs.folder / "host"}
    env = {"PATH": os.environ["PATH"], **{key: str(value) for key, value in names.items()}}
    done = subprocess.run(
        [str(shutil.which("unshare")), "-m", "sh", "-c", script], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip(f"not run: no private mounts here: {done.stderr[-200:]}")
    printed = (site.base / "out").read_text()
    assert printed.startswith("READY\nONNX Runtime"), printed + done.stderr
    assert "FOREIGN CODE RUNS" not in printed


# ---- a program that deletes its library, as the documentation of Python shows it ----------------------------------


def test_a_zipapp_that_removes_its_library(site):
    zipapp = (
        "import ctypes, shutil, os, sys\n"
        "folder, library = sys.argv[1:]\n"
        "copy = os.path.join(folder, 'tmp-libmine.so')\n"
        "shutil.copy(library, copy)\n"
        "mine = ctypes.CDLL(copy)\n"
        "os.unlink(copy)\n"
        "print('READY', flush=True)\n"
        "sys.stdin.readline()\n"
        "mine.go()\n"
    )
    for _ in range(max(STARTS // 100, 3)):
        library = site.install("libmine.so", "app")
        running = subprocess.Popen(
            ["/usr/bin/env", "python3", "-I", "-c", zipapp, str(site.base), str(library)],
            user=USER, group=USER, extra_groups=[], cwd="/", env={"PATH": "/usr/bin:/bin"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert running.stdout
        assert running.stdout.readline() == "READY\n"
        take_over(site, site.base, "tmp-libmine.so (deleted)")
        printed, _ = running.communicate("\n", timeout=60)
        assert "FOREIGN CODE RUNS" not in printed
        assert "was deleted, moved or replaced" in printed
