"""The schema of latebind.toml: what editors and validate-pyproject make of it, and that it agrees with the reader."""

import re

import jsonschema
import msgspec
import pytest
from validate_pyproject import api, errors, plugins

from latebind.config.schema import SCHEMA_ID, config_schema
from tests.support.client import CONFIG, SEVERAL

PYPROJECT = {"project": {"name": "tiny", "version": "1.0"}}


def test_it_names_itself_targets_and_presets():
    schema = config_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == SCHEMA_ID
    assert "linux-x64" in schema["$defs"]["Targets"]["properties"]["include"]["items"]["enum"]
    assert {"onnxruntime", "openvino"} <= set(schema["$defs"]["RuntimeUse"]["properties"]["preset"]["enum"])


def test_every_key_is_described():
    tables = config_schema()["$defs"].items()
    assert [
        (name, key) for name, table in tables for key, value in table["properties"].items() if not value["description"]
    ] == []


def list_forms():
    """Each key whose value, or one of them, has a pattern, with the pattern and the key's description."""
    for name, table in config_schema()["$defs"].items():
        for key, value in table["properties"].items():
            inner = value.get("items", value.get("propertyNames", {}))
            if pattern := value.get("pattern", inner.get("pattern")):
                yield f"{name}.{key}", pattern, value["description"]


def test_the_description_of_every_form_has_an_example_of_it():
    """It is the advice where a value does not have the form, and the message has no regular expression."""
    forms = list(list_forms())
    assert len(forms) > 12
    examples = {key: re.search(r"(?:such as|supports:|ExternalProject: {) (\S+)", text) for key, _, text in forms}
    without = [key for key, pattern, _ in forms if not re.search(pattern, examples[key][1].rstrip(",.:"))]
    assert without == []


def test_it_accepts_several_packages_and_a_targets_own_table():
    document = msgspec.toml.decode(SEVERAL.read_bytes())
    jsonschema.validate(document, config_schema())
    document["targets"]["linux-x64"] = {"toolchain": "host"}
    jsonschema.validate(document, config_schema())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("linux-x64", "linux-x46"),
        ("glibc", "glbc"),
        ('version = "1.2.3"', "version = 1.2"),
        ('version = "1.2.3"\n', ""),
        ("[project]", "verson = 1\n[project]"),
        ("[package", "[targets.linux-x46]\n[package"),
    ],
)
def test_it_refuses_what_the_reader_refuses(old, new):
    validator = jsonschema.Draft202012Validator(config_schema())
    assert not list(validator.iter_errors(msgspec.toml.decode(CONFIG)))
    assert old in CONFIG
    assert list(validator.iter_errors(msgspec.toml.decode(CONFIG.replace(old, new))))


def test_validate_pyproject_finds_it_by_its_entry_point():
    matching = [plugin for plugin in plugins.list_from_entry_points() if getattr(plugin, "tool", "") == "latebind"]
    assert len(matching) == 1
    validator = api.Validator(matching)
    good = {**PYPROJECT, "tool": {"latebind": msgspec.toml.decode(CONFIG)}}
    assert validator(good) == good
    bad = {**PYPROJECT, "tool": {"latebind": {**msgspec.toml.decode(CONFIG), "projct": {}}}}
    with pytest.raises(errors.ValidationError, match="projct"):
        validator(bad)
