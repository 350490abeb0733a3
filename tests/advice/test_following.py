"""Commands and settings are read from a message as a person reads them."""

import pytest

from tests.advice.following import find_advice, list_commands, list_options, list_settings, write_setting


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("help: Make them: latebind pack", [["latebind", "pack"]]),
        ("Make the packages first: latebind pack.", [["latebind", "pack"]]),
        ("Run latebind ci --force, or remove the job.", [["latebind", "ci", "--force"]]),
        (
            "See: latebind ci --check. To replace it: latebind ci --force.",
            [["latebind", "ci", "--check"], ["latebind", "ci", "--force"]],
        ),
        ("Run `latebind build` first.", [["latebind", "build"]]),
        ("Name the folder that contains the packages. latebind pack makes them in dist/.", [["latebind", "pack"]]),
        ('Run: pip install "zig>=1"', [["pip", "install", "zig>=1"]]),
        ("name its folder: latebind -C /a/b ...", [["latebind", "-C", "/a/b"]]),
        ("In a file, latebind reads it.", []),
    ],
)
def test_commands(text, commands):
    assert list_commands(text) == commands


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ('Write glibc = "2.28" or newer.', {"glibc": '"2.28"'}),
        ("Write drop_in = true, or remove headers.", {"drop_in": "true"}),
        (
            'Write python = { folder = "a", extras = { cpu = "b" } }.',
            {
                "python": '{ folder = "a", extras = { cpu = "b" } }',
                "folder": '"a"',
                "extras": '{ cpu = "b" }',
                "cpu": '"b"',
            },
        ),
        ('Write toolchain = "zig" below [targets.x].', {"toolchain": '"zig"'}),
        ("none", {}),
    ],
)
def test_settings(text, settings):
    assert list_settings(text) == settings


def test_options():
    assert list_options("Leave out --tag, or write --tag v1.") == ["--tag", "--tag"]


def test_advice_is_found_over_lines():
    assert (
        find_advice("Run latebind {} now", "error: x\nhelp: Run latebind\n      pack now, yes")
        == "Run latebind pack now"
    )
    assert find_advice("Run {}", "help: Run a b") == "Run a b"
    assert find_advice("Run {} now", "help: Run a") is None


def test_a_setting_takes_the_place_of_the_old_one(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("[a]\nx = 1\ny = 2\n[b]\nx = 3\n", encoding="utf-8")
    write_setting(file, "a", "x", "5")
    write_setting(file, "c", "z", "7")
    assert file.read_text("utf-8") == "[a]\nx = 5\ny = 2\n[b]\nx = 3\n\n[c]\nz = 7\n"
