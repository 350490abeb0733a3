"""Memory and strings: malloc(3), string(3), stdlib's conversions and sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.machines.macos.process import Call, WrongCallError, function

if TYPE_CHECKING:
    from ci.machines.macos.process import Process, Steps

_MASK = (1 << 64) - 1
_POINTER, _EINVAL = 8, 22
_SPACES = b" \t\n\v\f\r"


def signed(value: int, bits: int = 64) -> int:
    """A register as a signed number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def compare(left: bytes, right: bytes) -> int:
    """What strcmp() answers."""
    return ((left > right) - (left < right)) & _MASK


@function("_malloc")
def allocate(process: Process, size: int) -> int:
    return process.allocate(size)


@function("_calloc")
def allocate_zeroed(process: Process, count: int, size: int) -> int:
    return process.allocate(count * size)


@function("_posix_memalign")
def allocate_aligned(process: Process, result: int, alignment: int, size: int) -> int:
    if alignment < _POINTER or alignment & (alignment - 1):
        return _EINVAL
    address = process.allocate(size + alignment)
    aligned = -(-address // alignment) * alignment
    process.sizes[aligned] = process.sizes.pop(address) - (aligned - address)  # what free() is given
    process.processor.write(result, aligned.to_bytes(8, "little"))
    return 0


@function("_realloc")
def reallocate(process: Process, address: int, size: int) -> int:
    fresh = process.allocate(size)
    if address:
        if address not in process.sizes:
            raise WrongCallError(f"realloc({address:#x}): pointer being realloc'd was not allocated")
        process.processor.write(fresh, process.processor.read_bytes(address, min(process.sizes[address], size)))
        process.release(address)
    return fresh


@function("_free")
def release(process: Process, address: int) -> None:
    process.release(address)


@function("_memmove", "___memmove_chk")
def move(process: Process, to: int, source: int, size: int) -> int:
    process.processor.write(to, process.processor.read_bytes(source, size))
    return to


@function("_memset", "___memset_chk")
def fill(process: Process, to: int, byte: int, size: int) -> int:
    process.processor.write(to, bytes([byte & 255]) * size)
    return to


@function("_memset_pattern16")
def fill_by_pattern(process: Process, to: int, pattern: int, size: int) -> None:
    process.processor.write(to, (process.processor.read_bytes(pattern, 16) * (size // 16 + 1))[:size])


@function("_bzero", "___bzero")
def clear(process: Process, to: int, size: int) -> None:
    process.processor.write(to, bytes(size))


@function("_memcmp", "_bcmp")
def compare_memory(process: Process, left: int, right: int, size: int) -> int:
    return compare(process.processor.read_bytes(left, size), process.processor.read_bytes(right, size))


@function("_memchr")
def find_byte(process: Process, address: int, byte: int, size: int) -> int:
    at = process.processor.read_bytes(address, size).find(byte & 255)
    return address + at if at >= 0 else 0


@function("_strlen")
def measure(process: Process, text: int) -> int:
    return len(process.processor.text(text))


@function("_strnlen")
def measure_at_most(process: Process, text: int, size: int) -> int:
    data = process.processor.read_bytes(text, size)
    return len(data.partition(b"\0")[0])


@function("_strcmp")
def compare_texts(process: Process, left: int, right: int) -> int:
    return compare(process.processor.text(left), process.processor.text(right))


@function("_strncmp")
def compare_starts(process: Process, left: int, right: int, size: int) -> int:
    return compare(process.processor.text(left)[:size], process.processor.text(right)[:size])


@function("_strcasecmp")
def compare_folded(process: Process, left: int, right: int) -> int:
    return compare(process.processor.text(left).lower(), process.processor.text(right).lower())


@function("_strncasecmp")
def compare_folded_starts(process: Process, left: int, right: int, size: int) -> int:
    return compare(process.processor.text(left)[:size].lower(), process.processor.text(right)[:size].lower())


@function("_strchr")
def find_character(process: Process, text: int, byte: int) -> int:
    at = (process.processor.text(text) + b"\0").find(byte & 255)
    return text + at if at >= 0 else 0


@function("_strrchr")
def find_last_character(process: Process, text: int, byte: int) -> int:
    at = (process.processor.text(text) + b"\0").rfind(byte & 255)
    return text + at if at >= 0 else 0


@function("_strstr")
def find_text(process: Process, text: int, needle: int) -> int:
    at = process.processor.text(text).find(process.processor.text(needle))
    return text + at if at >= 0 else 0


def _span(text: bytes, stops: bytes) -> int:
    return next((at for at, byte in enumerate(text) if byte in stops), len(text))


@function("_strcspn")
def measure_without(process: Process, text: int, stops: int) -> int:
    return _span(process.processor.text(text), process.processor.text(stops))


@function("_strspn")
def measure_with(process: Process, text: int, needle: int) -> int:
    data = process.processor.text(text)
    return len(data) - len(data.lstrip(process.processor.text(needle)))


@function("_strpbrk")
def find_any(process: Process, text: int, stops: int) -> int:
    data = process.processor.text(text)
    at = _span(data, process.processor.text(stops))
    return text + at if at < len(data) else 0


@function("_strdup")
def duplicate(process: Process, text: int) -> int:
    return process.allocate_text(process.processor.text(text))


@function("_strcpy", "___strcpy_chk")
def copy_text(process: Process, to: int, text: int) -> int:
    process.processor.write(to, process.processor.text(text) + b"\0")
    return to


@function("_strncpy", "___strncpy_chk")
def copy_start(process: Process, to: int, text: int, size: int) -> int:
    process.processor.write(to, process.processor.text(text)[:size].ljust(size, b"\0"))
    return to


@function("_strcat", "___strcat_chk")
def append_text(process: Process, to: int, text: int) -> int:
    process.processor.write(to + len(process.processor.text(to)), process.processor.text(text) + b"\0")
    return to


@function("_strlcpy", "___strlcpy_chk")
def copy_bounded(process: Process, to: int, text: int, size: int) -> int:
    data = process.processor.text(text)
    if size:
        process.processor.write(to, data[: size - 1] + b"\0")
    return len(data)


def parse_number(data: bytes, base: int) -> tuple[int, int]:
    """A number at the start of a text, and where it ends: 0 where there is none."""
    at = len(data) - len(data.lstrip(_SPACES))
    is_negative = data[at : at + 1] == b"-"
    at += data[at : at + 1] in (b"-", b"+")
    if base in (0, 16) and data[at : at + 2].lower() == b"0x":
        base, at = 16, at + 2
    base = base or (8 if data[at : at + 1] == b"0" else 10)
    digits = b"0123456789abcdefghijklmnopqrstuvwxyz"[:base]
    end = at
    while end < len(data) and data[end : end + 1].lower() in digits and data[end : end + 1]:
        end += 1
    if end == at:
        return 0, 0
    return int(data[at:end], base) * (-1 if is_negative else 1), end


@function("_strtol", "_strtoul", "_strtoll", "_strtoull")
def convert(process: Process, text: int, end: int, base: int) -> int:
    value, at = parse_number(process.processor.text(text), base)
    if end:
        process.processor.write(end, (text + at).to_bytes(8, "little"))
    return value & _MASK


@function("_atoi", "_atol")
def convert_decimal(process: Process, text: int) -> int:
    return parse_number(process.processor.text(text), 10)[0] & _MASK


@function("_qsort")
def sort(process: Process, base: int, count: int, size: int, order: int) -> Steps:
    """Insert each element, as C's function asks: `order` gets addresses of two elements."""
    scratch = process.allocate(2 * size)
    read, write = process.processor.read_bytes, process.processor.write
    done: list[bytes] = []
    for item in [read(base + at * size, size) for at in range(count)]:
        at = len(done)
        while at:
            write(scratch, done[at - 1] + item)
            answer = yield Call(order, (scratch, scratch + size))
            if signed(answer, 32) <= 0:
                break
            at -= 1
        done.insert(at, item)
    write(base, b"".join(done))
    process.release(scratch)
    return 0
