"""Changes files in ways that break readers: bytes, numbers, blocks, lengths, and the insides of archives."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Bytes = bytearray
_EDGES = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_NAMES = (
    "../evil", "/etc/evil", "C:\\evil", "a\\..\\..\\evil", "a//b", "", ".", "nul", "a\x00b", "x" * 300, "A/B", "a/b",
    "\u202egnp.so", "\U0001f600/x.so", "runtimes/linux-x64/native/../../../x.so", "a" + "/a" * 400,
)  # fmt: skip
_ARCHIVES = (".whl", ".nupkg", ".zip", ".snupkg")


def mutate_subject(subjects: Sequence[tuple[str, bytes]], key: str) -> tuple[str, bytes]:
    """One subject, by name, changed as the key says; equal keys give equal bytes."""
    chance = random.Random(key)  # noqa: S311  # not a secret
    name, data = chance.choice(subjects)
    if name.endswith(_ARCHIVES) and chance.random() < 0.5:  # else the archive itself is broken
        return name, _inside(data, subjects, chance)
    return name, _change_bytes(data, chance)


def _change_bytes(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8, 30))):
        if out:
            chance.choice(_MUTATORS)(out, chance)
    return bytes(out)


def _place(out: bytearray, chance: random.Random) -> int:
    """Anywhere, but half of the time where the headers and tables are: the beginning and the end."""
    size = max(len(out), 1)
    near = chance.randrange(min(size, 2048))
    return chance.choice((near, size - 1 - near, chance.randrange(size), chance.randrange(size)))


def _flip(out: bytearray, chance: random.Random) -> None:
    out[_place(out, chance)] ^= 1 << chance.randrange(8)


def _byte(out: bytearray, chance: random.Random) -> None:
    out[_place(out, chance)] = chance.randrange(256)


def _number(out: bytearray, chance: random.Random) -> None:
    """A number at the edge of what some field can hold, or near what is there."""
    size = chance.choice((2, 4, 8))
    position = min(_place(out, chance) & ~(size - 1), len(out) - size)
    if position < 0:
        return
    order = chance.choice("<>")
    form = order + {2: "H", 4: "I", 8: "Q"}[size]
    old = struct.unpack_from(form, out, position)[0]
    value = chance.choice((*_EDGES, old + 1, old - 1, old * 2, -old, len(out), ~0))
    struct.pack_into(form, out, position, value & ((1 << 8 * size) - 1))


def _cut(out: bytearray, chance: random.Random) -> None:
    del out[_place(out, chance) :]


def _remove(out: bytearray, chance: random.Random) -> None:
    position = _place(out, chance)
    del out[position : position + chance.choice((1, 2, 4, 16, 256, 4096))]


def _insert(out: bytearray, chance: random.Random) -> None:
    position = _place(out, chance)
    out[position:position] = bytes([chance.choice((0, 0xFF, 0x41))]) * chance.choice((1, 4, 64, 4096))


def _repeat(out: bytearray, chance: random.Random) -> None:
    position, size = _place(out, chance), chance.choice((8, 40, 64, 512))
    out[position:position] = out[position : position + size] * chance.choice((1, 2, 100))


def _move(out: bytearray, chance: random.Random) -> None:
    here, target, size = _place(out, chance), _place(out, chance), chance.choice((4, 8, 40, 64))
    part = out[here : here + size]
    out[target : target + len(part)] = part


def _fill(out: bytearray, chance: random.Random) -> None:
    position, size = _place(out, chance), chance.choice((16, 64, 1024))
    end = min(position + size, len(out))
    out[position:end] = bytes([chance.choice((0, 0xFF))]) * (end - position)


_MUTATORS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    *(_flip, _byte, _number, _number, _number),
    *(_cut, _remove, _insert, _repeat, _move, _fill),
)


def _inside(data: bytes, subjects: Sequence[tuple[str, bytes]], chance: random.Random) -> bytes:
    """A whole archive whose insides are wrong: members changed, renamed, doubled, swapped for something else."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    for _ in range(chance.choice((1, 1, 2, 4))):
        index = chance.randrange(len(members))
        name, body = members[index]
        what = chance.randrange(6)
        if what == 0:
            members[index] = (chance.choice(_NAMES), body)
        elif what == 1:
            members.append((chance.choice((name, name.upper(), name + "/x")), body))
        elif what == 2:
            members[index] = (name, chance.choice(subjects)[1])
        elif what == 3 and len(members) > 1:
            del members[index]
        else:
            members[index] = (name, _change_bytes(body, chance))
    return _write_zip(members, chance)


def _write_zip(members: Sequence[tuple[str, bytes]], chance: random.Random) -> bytes:
    buffer = io.BytesIO()
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # a name twice is meant
        for name, body in members:
            info = zipfile.ZipInfo("x" if "\x00" in name else name)
            info.filename = name
            info.external_attr = chance.choice((0o644, 0o755, 0o120777, 0o010644, 0o4755)) << 16
            archive.writestr(info, body)
    return buffer.getvalue()
