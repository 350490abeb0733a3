"""Places where another user may write: nothing from there is loaded, and the report says what was refused and why.

Each case is an attack: `foreign` prints a line when it is loaded. What users did on purpose is below, as controls.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.loader.places import ATTACKER, CAPI, GROUP, LIBRARY, NODE, USER, Site, make_site, run

if TYPE_CHECKING:
    from tests.support.building import Programs

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="not run: only root can make files of several users"
)
OWNER, EVERYBODY, MEMBERS = "another user owns", "every user may write to", "other users of its group may write to"


@pytest.fixture
def site(plain: Programs) -> Iterator[Site]:
    with make_site(plain) as made:
        yield made


# ---- attacks on the stub: the answer, and the reason in the report ----


def climb_to_python(site: Site) -> Path:
    site.add_runtime(CAPI)
    return site.install("service", "build/app")


def climb_to_node(site: Site) -> Path:
    site.add_runtime(NODE)
    return site.install("service", "build/app")


def climb_by_package_json(site: Site) -> Path:
    site.mark("package.json")
    return climb_to_node(site)


def climb_by_dist_info(site: Site) -> Path:
    site.mark("any.dist-info")
    return climb_to_python(site)


def climb_by_base_library(site: Site) -> Path:
    site.mark("base_library.zip")
    return climb_to_python(site)


def climb_by_apprun(site: Site) -> Path:
    site.mark("AppRun")
    return climb_to_python(site)


def climb_to_base_of_dotnet(site: Site) -> Path:
    site.add_runtime("", name="libonnxruntime.so")
    return site.install("service", "runtimes/linux-x64/native")


def natives_of_dotnet(site: Site) -> Path:
    program = site.install("service", "app")
    site.add_runtime("app/runtimes/linux-x64/native", name="libonnxruntime.so")
    return program


def next_to_it_in_a_sticky_folder(site: Site) -> Path:
    site.add_runtime("")
    return site.install("service", "")


def next_to_it_in_a_shared_folder(site: Site) -> Path:
    program = site.install("service", "app")
    program.parent.chmod(0o777)
    site.add_runtime("app")
    return program


def file_that_everybody_may_change(site: Site) -> Path:
    program = site.install("service", "app")
    site.add_runtime("app", owner=USER).chmod(0o666)
    return program


def own_file_in_a_folder_of_everybody(site: Site) -> Path:
    program = site.install("service", "app")
    site.add_runtime("app", owner=USER)
    program.parent.chmod(0o777)
    return program


def file_that_a_group_may_change(site: Site) -> Path:
    program = site.install("service", "app")
    path = site.add_runtime("app", owner=USER)
    os.chown(path, USER, GROUP)
    path.chmod(0o664)
    return program


def folder_that_a_group_may_change(site: Site) -> Path:
    program = site.install("service", "env/site-packages/pkg")
    path = site.add_runtime(f"env/site-packages/{CAPI}", owner=USER)
    os.chown(path.parent, USER, GROUP)
    path.parent.chmod(0o775)
    return program


def group_of_the_users_own_number(site: Site) -> Path:
    """Without an entry in /etc/group nobody knows who else is in it."""
    program = site.install("service", "env/site-packages/pkg")
    site.add_runtime(f"env/site-packages/{CAPI}", owner=USER).parent.chmod(0o775)
    return program


def folder_above_that_everybody_may_change(site: Site) -> Path:
    program = site.install("service", "env/site-packages/pkg")
    site.add_runtime(f"env/site-packages/{CAPI}", owner=USER)
    (site.base / "env/site-packages/onnxruntime").chmod(0o777)
    return program


def package_of_another_user(site: Site) -> Path:
    program = site.install("service", "env/site-packages/pkg")
    site.add_runtime(f"env/site-packages/{CAPI}")
    return program


def module_of_another_user(site: Site) -> Path:
    program = site.install("service", "app/node_modules/pkg")
    site.add_runtime(f"app/{NODE}")
    return program


def package_that_another_user_put_where_everybody_may(site: Site) -> Path:
    program = package_of_another_user(site)
    (site.base / "env/site-packages").chmod(0o777)
    return program


def link_to_another_users_file(site: Site) -> Path:
    program = site.install("service", "app")
    (program.parent / LIBRARY).symlink_to(site.add_runtime("theirs"))
    return program


def link_to_another_users_folder(site: Site) -> Path:
    program = site.install("service", "env/site-packages/pkg")
    site.add_runtime(f"theirs/{CAPI}")
    (site.base / "env/site-packages/onnxruntime").symlink_to(site.base / "theirs/onnxruntime")
    return program


def another_users_link(site: Site) -> Path:
    """Its target is safe, but what the runtime needs itself is looked for next to the link."""
    program = site.install("service", "env/site-packages/pkg")
    site.add_runtime(f"safe/{CAPI}", owner=0)
    packages = site.base / "env/site-packages"
    packages.chmod(0o1777)
    (packages / "onnxruntime").symlink_to(site.base / "safe/onnxruntime")
    os.lchown(packages / "onnxruntime", ATTACKER, ATTACKER)
    return program


def chain_of_links(site: Site) -> Path:
    program = site.install("service", "app")
    first = site.base / "first"
    first.symlink_to(site.add_runtime("theirs"))
    os.lchown(first, USER, USER)
    (program.parent / LIBRARY).symlink_to(first)
    return program


def extracted_application(site: Site) -> Path:
    """As PyInstaller extracts one file: a private folder, with a package that someone else put there."""
    program = site.install("service", "_MEI123/pkg/lib")
    site.mark("_MEI123/base_library.zip", owner=USER)
    site.add_runtime(f"_MEI123/{CAPI}")
    return program


def mounted_application(site: Site) -> Path:
    """As an AppImage is mounted."""
    program = site.install("service", ".mount_app/usr/bin")
    site.mark(".mount_app/AppRun", owner=USER)
    site.add_runtime(f".mount_app/{CAPI}")
    return program


NOT_LOOKED_AT = ""
ATTACKS: list[tuple[Callable[[Site], Path], str]] = [
    (climb_to_python, OWNER),
    (climb_to_node, OWNER),
    (climb_by_package_json, OWNER),
    (climb_by_dist_info, OWNER),
    (climb_by_base_library, OWNER),
    (climb_by_apprun, OWNER),
    (climb_to_base_of_dotnet, EVERYBODY),
    (natives_of_dotnet, OWNER),
    (next_to_it_in_a_sticky_folder, EVERYBODY),
    (next_to_it_in_a_shared_folder, EVERYBODY),
    (file_that_everybody_may_change, EVERYBODY),
    (own_file_in_a_folder_of_everybody, EVERYBODY),
    (file_that_a_group_may_change, MEMBERS),
    (folder_that_a_group_may_change, MEMBERS),
    (group_of_the_users_own_number, MEMBERS),
    (folder_above_that_everybody_may_change, EVERYBODY),
    (package_of_another_user, OWNER),
    (package_that_another_user_put_where_everybody_may, OWNER),
    (module_of_another_user, OWNER),
    (link_to_another_users_file, OWNER),
    (link_to_another_users_folder, OWNER),
    (another_users_link, OWNER),
    (chain_of_links, EVERYBODY),
    (extracted_application, OWNER),
    (mounted_application, OWNER),
]


def hold_refused(printed: str, reason: str) -> None:
    """Nothing foreign ran, and the report has the refused file with the reason."""
    assert "FOREIGN CODE RUNS" not in printed
    message, report = printed.splitlines()
    assert message.startswith("ONNX Runtime ")
    details = [attempt["detail"] for attempt in json.loads(report)["attempts"] if attempt["outcome"] == "refused"]
    assert len(details) == bool(reason), details
    assert not reason or (details[0].startswith(reason) and "ONNXRUNTIME_LIB_PATH" in message)


@pytest.mark.parametrize(("attack", "reason"), ATTACKS, ids=lambda value: getattr(value, "__name__", ""))
def test_nothing_of_another_user_is_loaded(site, attack, reason):
    hold_refused(run(attack(site)), reason)


def test_the_environment_of_python_is_judged_like_all_packages(site):
    program = site.install("service", "app")
    packages = "lib/python3.12/site-packages"
    site.add_runtime(f"env/{packages}/{CAPI}")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        hold_refused(run(program, **{variable: str(site.base / "env")}), OWNER)
    site.add_runtime(f"home/.local/{packages}/{CAPI}")
    hold_refused(run(program, HOME=str(site.base / "home")), OWNER)


def test_what_a_relative_start_means_is_asked_of_the_kernel(site):
    program = site.install("service", "app")
    site.add_runtime("app")
    hold_refused(run("./service", cwd=program.parent), OWNER)


def test_the_first_argument_chooses_nothing(site):
    program = site.install("service", "app")
    site.add_runtime("theirs")
    site.mark("theirs/service")
    hold_refused(run(program, argv0=str(site.base / "theirs/service")), NOT_LOOKED_AT)


def test_run_paths_are_judged_too(site):
    program = site.install("probe_run_path", "app")
    site.add_runtime("app/deps")
    printed = run(program)
    assert "FOREIGN CODE RUNS" not in printed
    attempts = json.loads(printed)["report"]["attempts"]
    refused = {attempt["source"]: attempt["detail"] for attempt in attempts if attempt["outcome"] == "refused"}
    assert refused.keys() == {"system"}
    assert all(detail.startswith(OWNER) for detail in refused.values())


def test_a_folder_that_was_mounted_over_is_judged_as_it_is(site):
    program = site.install("service", "env/site-packages/pkg")
    site.add_runtime(f"env/site-packages/{CAPI}", owner=USER, stand_in="good")
    foreign = site.add_runtime("theirs").parent
    script = 'mount --bind "$0" "$1" && exec setpriv --reuid=23456 --regid=23456 --clear-groups "$2"'
    command = ["unshare", "-m", "sh", "-c", script, foreign, site.base / f"env/site-packages/{CAPI}", program]
    done = subprocess.run(command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("not run: no private mounts here (unshare -m)")
    hold_refused(done.stdout, OWNER)


# ---- a process with raised rights ----


def raise_rights(site: Site, folder: str, *, owner: int = 0) -> Path:
    program = site.install("service", folder, owner=owner)
    os.chown(program, 0, 0)
    program.chmod(0o4755)
    return program


def test_a_raised_process_is_not_led_by_its_first_argument(site):
    program = raise_rights(site, "bin")
    site.add_runtime("theirs")
    site.mark("theirs/service")
    hold_refused(run(program, argv0=str(site.base / "theirs/service"), user=ATTACKER), NOT_LOOKED_AT)


def test_a_raised_process_takes_what_root_alone_can_change(site):
    program = raise_rights(site, "bin")
    path = site.add_runtime("bin", owner=0, stand_in="good")
    assert run(program, user=ATTACKER).splitlines()[0] == str(path)
    os.chown(path, USER, USER)
    printed = run(program, user=ATTACKER)
    assert "another user owns" in printed.splitlines()[1]


def test_a_raised_program_in_a_users_folder_finds_nothing_there(site):
    """A hard link, or a copy with capabilities: this user's own files do not count either."""
    program = raise_rights(site, "theirs", owner=ATTACKER)
    site.add_runtime("theirs")
    printed = run(program, user=ATTACKER)
    assert "FOREIGN CODE RUNS" not in printed
    assert "another user owns" in printed.splitlines()[1]


def test_a_raised_process_judges_the_folders_of_its_host(site):
    program = site.install("probe", "bin", owner=0)
    program.chmod(0o4755)
    path = site.add_runtime("offered")
    printed = run(program, "--dir", str(path.parent), user=ATTACKER)
    assert "FOREIGN CODE RUNS" not in printed
    assert OWNER in printed


# ---- what works as before ----


def test_a_folder_of_the_host_is_trusted_as_the_host_trusts_it(site):
    """Who may put a library there may put code there, which the host runs."""
    program = site.install("probe", "app")
    path = site.add_runtime("offered", stand_in="good")
    answer = json.loads(run(program, "--dir", str(path.parent)))
    assert (answer["outcome"], answer["report"]["path"]) == ("bound", str(path))


def test_a_place_that_the_user_names_is_used(site):
    program = site.install("service", "app")
    path = site.add_runtime("theirs", stand_in="good")
    for environment in ({"ONNXRUNTIME_LIB_PATH": str(path)}, {"LD_LIBRARY_PATH": str(path.parent)}):
        assert run(program, **environment).splitlines()[0] == str(path)


def private_application(site: Site) -> tuple[Path, Path]:
    return site.install("service", "app"), site.add_runtime("app", owner=USER, stand_in="good")


def installed_by_root(site: Site) -> tuple[Path, Path]:
    program = site.install("service", "env/site-packages/pkg", owner=0)
    return program, site.add_runtime(f"env/site-packages/{CAPI}", owner=0, stand_in="good")


def installed_by_a_third_user(site: Site) -> tuple[Path, Path]:
    """One account installs both: its code runs already."""
    program = site.install("service", "env/site-packages/pkg", owner=GROUP)
    return program, site.add_runtime(f"env/site-packages/{CAPI}", owner=GROUP, stand_in="good")


def installed_by_a_group(site: Site) -> tuple[Path, Path]:
    """Those who may change the program may change the runtime."""
    program = site.install("service", "env/site-packages/pkg", owner=0)
    path = site.add_runtime(f"env/site-packages/{CAPI}", owner=0, stand_in="good")
    for entry in (program, path, path.parent):
        os.chown(entry, 0, GROUP)
        entry.chmod(0o775)
    return program, path


def installed_where_everybody_may_write(site: Site) -> tuple[Path, Path]:
    """As on hosted runners: who may write to site-packages may replace the program, too."""
    program = site.install("service", "env/site-packages/pkg")
    path = site.add_runtime(f"env/site-packages/{CAPI}", owner=USER, stand_in="good")
    (site.base / "env/site-packages").chmod(0o777)
    return program, path


def extracted_from_one_file(site: Site) -> tuple[Path, Path]:
    program = site.install("service", "_MEI123/pkg/lib")
    site.mark("_MEI123/base_library.zip", owner=USER)
    return program, site.add_runtime(f"_MEI123/{CAPI}", owner=USER, stand_in="good", name=f"{LIBRARY}.25.3")


def folder_with_a_newline(site: Site) -> tuple[Path, Path]:
    return site.install("service", "new\nline"), site.add_runtime("new\nline", owner=USER, stand_in="good")


@pytest.mark.parametrize(
    "arrange",
    [
        private_application,
        installed_by_root,
        installed_by_a_third_user,
        installed_by_a_group,
        installed_where_everybody_may_write,
        extracted_from_one_file,
        folder_with_a_newline,
    ],
    ids=lambda value: value.__name__,
)
def test_what_was_installed_together_is_found(site, arrange):
    program, path = arrange(site)
    printed = run(f"./{program.name}", cwd=program.parent)
    assert printed.startswith(f"{path}\n")


def test_the_runtime_next_to_the_library_comes_before_its_neighbours(site):
    program = site.install("service", "env/site-packages/pkg")
    path = site.add_runtime("env/site-packages/pkg", owner=USER, stand_in="good")
    site.add_runtime(f"env/site-packages/{CAPI}", owner=USER, stand_in="newer")
    assert run(program).startswith(f"{path}\n")


def test_the_newest_python_is_asked_first_in_whatever_order_the_disk_has_them(site):
    program = site.install("service", "app")
    for version, stand_in in (("3.9", "good"), ("3.12", "newer"), ("3.10", "good")):
        site.add_runtime(f"env/lib/python{version}/site-packages/{CAPI}", owner=USER, stand_in=stand_in)
    assert "/python3.12/" in run(program, VIRTUAL_ENV=str(site.base / "env")).splitlines()[0]


# ---- teams, lists, links: right set-ups --------------------------------------------------------------------------

SITES = "env/lib/python3.11/site-packages"
TEAMMATE = 23457


def make_library(site: Site, folder: str, *, owner: int = USER) -> list[str]:
    """A host, and a library with the stub."""
    return [str(site.programs.folder / "host"), str(site.install("libmine.so", folder, owner=owner))]


def share(site: Site, top: str) -> None:
    """A folder and all in it belong to a team, as umask 002 and a set-group-id folder leave them."""
    for place in ((site.base / top), *(site.base / top).rglob("*")):
        os.chown(place, place.stat().st_uid, GROUP)
        place.chmod(0o2775 if place.is_dir() else 0o664)


def team_in_which_another_upgrades(site: Site) -> tuple[list[str], Path]:
    command = make_library(site, f"{SITES}/pkg")
    path = site.add_runtime(f"{SITES}/{CAPI}", owner=TEAMMATE, stand_in="good")
    share(site, "env")
    return command, path


def team_with_a_list(site: Site) -> tuple[list[str], Path]:
    """Both packages have the list that a folder above gave them."""
    setfacl = shutil.which("setfacl")
    if setfacl is None:
        pytest.skip("not run: setfacl is missing: apt-get install acl")
    command = make_library(site, f"{SITES}/pkg")
    path = site.add_runtime(f"{SITES}/{CAPI}", owner=USER, stand_in="good")
    subprocess.run([setfacl, "-R", "-m", f"g:{GROUP}:rwX", site.base / "env"], check=True)
    return command, path


def links_into_a_cache(site: Site) -> tuple[list[str], Path]:
    """As `uv --link-mode symlink` and PEX install: each file is a link."""
    command = make_library(site, "cache/a")
    target = site.add_runtime("cache/b", owner=USER, stand_in="good")
    links = {f"{SITES}/pkg/libmine.so": command[1], f"{SITES}/{CAPI}/{LIBRARY}": str(target)}
    for name, to in links.items():
        site.make_folders(str(Path(name).parent), USER)
        (site.base / name).symlink_to(to)
        os.lchown(site.base / name, USER, USER)
    return [command[0], str(site.base / SITES / "pkg/libmine.so")], site.base / SITES / CAPI / LIBRARY


def folders_of_links(site: Site) -> tuple[list[str], Path]:
    """As Nix and Guix join packages: each package is a link into a store."""
    command = make_library(site, f"store/a/{SITES}/pkg", owner=0)
    site.add_runtime(f"store/b/{SITES}/{CAPI}", owner=0, stand_in="good")
    site.make_folders(SITES, 0)
    (site.base / SITES / "pkg").symlink_to(site.base / f"store/a/{SITES}/pkg")
    (site.base / SITES / "onnxruntime").symlink_to(site.base / f"store/b/{SITES}/onnxruntime")
    return [command[0], str(site.base / SITES / "pkg/libmine.so")], site.base / SITES / CAPI / LIBRARY


def everything_of_everybody(site: Site) -> tuple[list[str], Path]:
    """A file system without owners: others may replace the library itself."""
    command = make_library(site, f"{SITES}/pkg", owner=ATTACKER)
    path = site.add_runtime(f"{SITES}/{CAPI}", owner=TEAMMATE, stand_in="good")
    for place in ((site.base / "env"), *(site.base / "env").rglob("*")):
        place.chmod(0o777)
    return command, path


def a_namespace_of_its_own(site: Site) -> tuple[list[str], Path]:
    """dlmopen() has it, as auditors and some plugins open libraries."""
    command = make_library(site, "app")
    return [*command, "namespace"], site.add_runtime("app", owner=USER, stand_in="good")


@pytest.mark.parametrize(
    "arrange",
    [
        team_in_which_another_upgrades,
        team_with_a_list,
        links_into_a_cache,
        folders_of_links,
        everything_of_everybody,
        a_namespace_of_its_own,
    ],
    ids=lambda value: value.__name__,
)
def test_what_a_team_or_a_tool_installs_is_found(site, arrange):
    command, path = arrange(site)
    printed = run(*command)
    assert printed.startswith(f"{path}\n"), printed


def test_what_was_refused_is_used_where_the_user_names_it(site):
    """As `module load` sets CONDA_PREFIX and LD_LIBRARY_PATH for what an administrator's account installed."""
    command = make_library(site, "home/.local/pkg")
    path = site.add_runtime(f"conda/lib/python3.11/site-packages/{CAPI}", owner=GROUP, stand_in="good")
    conda = {"CONDA_PREFIX": str(site.base / "conda")}
    hold_refused(run(*command, **conda), OWNER)
    for variable in ("LD_LIBRARY_PATH", "ONNXRUNTIME_LIB_PATH"):
        assert run(*command, **conda, **{variable: str(path.parent)}).startswith(f"{path}\n")


def test_libraries_of_an_active_conda_environment_are_found(site):
    command = make_library(site, "app")
    path = site.add_runtime("conda/lib", owner=USER, stand_in="good")
    assert run(*command, CONDA_PREFIX=str(site.base / "conda")).startswith(f"{path}\n")


def test_without_proc_the_message_says_so(site):
    command = make_library(site, f"{SITES}/pkg")
    path = site.add_runtime(f"{SITES}/{CAPI}", owner=USER, stand_in="good")
    script = 'mount -t tmpfs none /proc && exec setpriv --reuid=23456 --regid=23456 --clear-groups "$@"'
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("not run: unshare is missing: apt-get install util-linux")
    for named, expected in (({}, "since /proc is not mounted"), ({"ONNXRUNTIME_LIB_PATH": str(path)}, str(path))):
        environment = {"PATH": os.environ["PATH"], **named}
        words = [unshare, "-m", "sh", "-c", script, "sh", *command]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if "unshare" in done.stderr or "mount" in done.stderr:
            pytest.skip("not run: no private mounts here (unshare -m)")
        assert expected in done.stdout.splitlines()[0]
