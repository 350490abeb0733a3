"""Streams: stdio(3) without its formats."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Any

from ci.machines.macos.file_functions import attempt, set_error, streams
from ci.machines.macos.process import function
from ci.machines.macos.text_functions import signed

if TYPE_CHECKING:
    from ci.machines.macos.process import Process

_END = (1 << 32) - 1
"""EOF, as an int."""


def write_stream(process: Process, stream: int, data: bytes) -> int:
    """Write to a stream; standard output is kept until it is flushed."""
    if stream == process.state["stdout"]:
        process.output += data
    elif stream == process.state["stderr"]:
        process.flush()
        os.write(2, data)
    else:
        streams(process).files[stream].write(data)
    return len(data)


@function("_fopen")
def open_stream(process: Process, path: int, mode: int) -> int:
    letters = process.processor.text(mode).decode().replace("e", "").replace("b", "") + "b"
    try:
        file = open(process.processor.text(path), letters)  # noqa: PTH123, SIM115  # bytes, and open until fclose()
    except OSError as error:
        set_error(process, error.errno or errno.EIO)
        return 0
    address = process.allocate(16)
    streams(process).files[address] = file
    return address


@function("_fclose")
def close_stream(process: Process, stream: int) -> int:
    streams(process).files.pop(stream).close()
    process.release(stream)
    return 0


@function("_fread")
def read_stream(process: Process, to: int, size: int, count: int, stream: int) -> int:
    data = find_stream(process, stream).read(size * count)
    process.processor.write(to, data)
    return len(data) // size if size else 0


@function("_fgets")
def read_line(process: Process, to: int, size: int, stream: int) -> int:
    data = find_stream(process, stream).readline(size - 1)
    if not data:
        return 0
    process.processor.write(to, data + b"\0")
    return to


@function("_getc", "_fgetc")
def read_character(process: Process, stream: int) -> int:
    data = find_stream(process, stream).read(1)
    return data[0] if data else _END


def find_stream(process: Process, stream: int) -> Any:
    """The file of a stream."""
    if stream == process.state["stdin"]:
        return process.state["input"]
    return streams(process).files[stream]


@function("_fwrite")
def write_items(process: Process, data: int, size: int, count: int, stream: int) -> int:
    write_stream(process, stream, process.processor.read_bytes(data, size * count))
    return count


@function("_fputs")
def write_text(process: Process, text: int, stream: int) -> int:
    return write_stream(process, stream, process.processor.text(text))


@function("_fputc", "_putc")
def write_character(process: Process, character: int, stream: int) -> int:
    write_stream(process, stream, bytes([character & 255]))
    return character & 255


@function("_fseek")
def seek_stream(process: Process, stream: int, offset: int, whence: int) -> int:
    return attempt(process, lambda: find_stream(process, stream).seek(signed(offset), whence) and 0)


@function("_rewind")
def rewind_stream(process: Process, stream: int) -> None:
    find_stream(process, stream).seek(0)
    streams(process).failed.discard(stream)


@function("_ftell")
def tell_stream(process: Process, stream: int) -> int:
    return int(find_stream(process, stream).tell())


@function("_fflush")
def flush_stream(process: Process, stream: int) -> int:
    if stream in (0, process.state["stdout"]):
        process.flush()
    elif stream in streams(process).files:
        with contextlib.suppress(OSError):
            streams(process).files[stream].flush()
    return 0


@function("_ferror", "_feof")
def has_failed(process: Process, stream: int) -> int:
    return int(stream in streams(process).failed)
