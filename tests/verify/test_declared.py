"""Who uses packages of each kind, and what a project has for them."""

import dataclasses

import msgspec
import pytest

from latebind.config.file import load
from latebind.verify.declared import find_consumer, find_registry, find_wanted, has_program, list_consumers
from tests.support.client import SEVERAL

CONFIG = load(SEVERAL)
PROGRAMS = ("python", "dotnet", "c", "sdk", "node", "java")
"""The keys of [verify] that name programs."""


def with_programs(*names):
    verify = msgspec.structs.replace(
        CONFIG.document.verify, **{name: name if name in names else "" for name in PROGRAMS}
    )
    return dataclasses.replace(CONFIG, document=msgspec.structs.replace(CONFIG.document, verify=verify))


@pytest.mark.parametrize(
    ("program", "kinds"),
    [
        ("python", {"wheel"}),
        ("dotnet", {"nupkg"}),
        ("c", {"nupkg"}),
        ("sdk", {"sdk"}),
        ("node", {"npm"}),
        ("java", {"jar"}),
    ],
)
def test_each_program_uses_packages_of_one_kind(program, kinds):
    every = {"".join(consumer.kind) for consumer in list_consumers()}  # no string of the table itself
    assert {kind for kind in every if has_program(with_programs(program), "".join(list(kind)))} == kinds
    assert {kind for kind in every if has_program(with_programs(), kind)} == set()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_consumer_without_a_program_is_not_wanted(program):
    runtime = CONFIG.document.runtime[0]
    own = {name for consumer in list_consumers() if consumer.program == program for name in consumer.names}
    latebinds_own = {name for consumer in list_consumers() if not consumer.program for name in consumer.names}
    assert own
    assert own & set(find_wanted(CONFIG, runtime)) - latebinds_own
    wanted = set(find_wanted(with_programs(program), runtime))
    assert wanted & own == own & set(find_wanted(CONFIG, runtime))
    assert wanted - own <= latebinds_own
    assert not own & set(find_wanted(with_programs(), runtime))


def test_a_consumer_without_a_package_for_it_is_not_wanted():
    packages = {name: msgspec.structs.replace(one, wheel=None) for name, one in CONFIG.packages.items()}
    document = msgspec.structs.replace(CONFIG.document, package=packages)
    config = dataclasses.replace(CONFIG, document=document)
    wheels = {name for consumer in list_consumers() if consumer.kind == "wheel" for name in consumer.names}
    assert wheels & set(find_wanted(CONFIG, CONFIG.document.runtime[0]))
    assert not wheels & set(find_wanted(config, CONFIG.document.runtime[0]))


def test_consumers_have_names_of_their_own_and_interpreters_are_found_by_theirs():
    names = [name for consumer in list_consumers() for name in consumer.names]
    assert len(set(names)) == len(names)
    assert find_consumer("python3.13t") is find_consumer("python")
    assert all(find_consumer(name).names.count(name) == 1 for name in names)
    with pytest.raises(StopIteration):
        find_consumer("ruby")
    with pytest.raises(StopIteration):
        find_consumer("node3.11")


def test_one_registry_besides_the_index_of_wheels_is_asked():
    assert find_registry() is find_consumer("node").ask_registry
    assert {consumer.kind for consumer in list_consumers() if consumer.ask_registry} == {"npm"}
