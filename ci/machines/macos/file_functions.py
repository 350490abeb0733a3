"""Files, folders and streams: open(2), stat(2), directory(3), stdio(3), in the layouts of macOS."""

from __future__ import annotations

import errno
import os
import stat
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ci.machines.macos.process import function
from ci.machines.macos.text_functions import signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ci.machines.macos.process import Process

_ERRORS = {
    "EAGAIN": 35, "EINPROGRESS": 36, "ENAMETOOLONG": 63, "ELOOP": 62, "ENOTEMPTY": 66, "ENOSYS": 78, "EOVERFLOW": 84,
    "EDEADLK": 11, "ENOTSUP": 45, "ETIMEDOUT": 60,
}  # fmt: skip
"""Where macOS has other numbers than Linux (sys/errno.h)."""
_OPEN = ((0x200, os.O_CREAT), (0x400, os.O_TRUNC), (0x800, os.O_EXCL), (0x8, os.O_APPEND), (0x100, os.O_NOFOLLOW),
         (0x100000, os.O_DIRECTORY), (0x1000000, os.O_CLOEXEC), (0x4, os.O_NONBLOCK))  # fmt: skip
_FAILED = (1 << 64) - 1
_AT_CWD = -2
_NO_FOLLOW = 0x20


@dataclass
class Streams:
    """The process's FILE and DIR objects, by address."""

    files: dict[int, Any] = field(default_factory=dict)
    folders: dict[int, tuple[int, Iterator[os.DirEntry[bytes]]]] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)


def set_error(process: Process, number: int) -> None:
    """Set errno to what macOS calls an error of Linux."""
    value = _ERRORS.get(errno.errorcode.get(number, ""), number)
    process.processor.write(process.current.error_at, value.to_bytes(4, "little"))


def attempt(process: Process, action: Callable[[], int | None]) -> int:
    """What an action answers, or -1 with errno."""
    try:
        return action() or 0
    except OSError as error:
        set_error(process, error.errno or errno.EIO)
        return _FAILED


def streams(process: Process) -> Streams:
    """The streams of a process."""
    return cast("Streams", process.state.setdefault("streams", Streams()))


def _flags(flags: int) -> int:
    return (flags & 3) | sum(linux for mac, linux in _OPEN if flags & mac)


@function("___error")
def find_errno(process: Process) -> int:
    return process.current.error_at


@function("_open", "_open$NOCANCEL")
def open_file(process: Process, path: int, flags: int) -> int:
    mode = process.processor.variadic(2, 0) & 0o7777 if flags & 0x200 else 0
    return attempt(process, lambda: os.open(process.processor.text(path), _flags(flags), mode))


@function("_openat")
def open_below(process: Process, folder: int, path: int, flags: int) -> int:
    at = signed(folder, 32)
    mode = process.processor.variadic(3, 0) & 0o7777 if flags & 0x200 else 0
    name = process.processor.text(path)
    return attempt(process, lambda: os.open(name, _flags(flags), mode, dir_fd=None if at == _AT_CWD else at))


@function("_close", "_close$NOCANCEL")
def close_file(process: Process, file: int) -> int:
    return attempt(process, lambda: os.close(signed(file, 32)))


@function("_read", "_read$NOCANCEL")
def read_file(process: Process, file: int, to: int, size: int) -> int:
    def action() -> int:
        data = os.read(signed(file, 32), size)
        process.processor.write(to, data)
        return len(data)

    return attempt(process, action)


@function("_pread", "_pread$NOCANCEL")
def read_at(process: Process, file: int, to: int, size: int, offset: int) -> int:
    def action() -> int:
        data = os.pread(signed(file, 32), size, signed(offset))
        process.processor.write(to, data)
        return len(data)

    return attempt(process, action)


@function("_write", "_write$NOCANCEL")
def write_file(process: Process, file: int, data: int, size: int) -> int:
    process.flush()
    return attempt(process, lambda: os.write(signed(file, 32), process.processor.read_bytes(data, size)))


@function("_lseek")
def seek(process: Process, file: int, offset: int, whence: int) -> int:
    return attempt(process, lambda: os.lseek(signed(file, 32), signed(offset), whence))


def write_status(process: Process, to: int, status: os.stat_result) -> None:
    """Write struct stat with 64-bit inodes (sys/stat.h)."""
    times = b"".join(struct.pack("<qq", *divmod(ns, 10**9)) for ns in (
        status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns, status.st_ctime_ns))  # fmt: skip
    head = struct.pack("<iHHQIIi4x", status.st_dev & 0x7FFFFFFF, status.st_mode, min(status.st_nlink, 0xFFFF),
                       status.st_ino, status.st_uid, status.st_gid, 0)  # fmt: skip
    tail = struct.pack("<qqiIIi16x", status.st_size, status.st_blocks, status.st_blksize, 0, 0, 0)
    process.processor.write(to, head + times + tail)


@function("_stat", "_stat$INODE64")
def read_status(process: Process, path: int, to: int) -> int:
    name = process.processor.text(path)
    return attempt(process, lambda: write_status(process, to, os.stat(name)))  # noqa: PTH116  # bytes


@function("_lstat", "_lstat$INODE64")
def read_link_status(process: Process, path: int, to: int) -> int:
    return attempt(process, lambda: write_status(process, to, os.lstat(process.processor.text(path))))


@function("_fstat", "_fstat$INODE64")
def read_open_status(process: Process, file: int, to: int) -> int:
    return attempt(process, lambda: write_status(process, to, os.fstat(signed(file, 32))))


@function("_statvfs")
def read_file_system(process: Process, path: int, to: int) -> int:
    return attempt(process, lambda: write_file_system(process, to, os.statvfs(process.processor.text(path))))


def write_file_system(process: Process, to: int, status: os.statvfs_result) -> None:
    """Write struct statvfs (sys/statvfs.h), whose counts of blocks and files have 32 bits."""
    counts = (status.f_blocks, status.f_bfree, status.f_bavail, status.f_files, status.f_ffree, status.f_favail)
    read_only = status.f_flag & os.ST_RDONLY
    process.processor.write(to, struct.pack("<QQ6IQQQ", status.f_bsize, status.f_frsize,
                            *(min(count, 0xFFFFFFFF) for count in counts), 0, read_only, status.f_namemax))  # fmt: skip


@function("_fstatat", "_fstatat$INODE64")
def read_status_below(process: Process, folder: int, path: int, to: int, flags: int) -> int:
    at, name = signed(folder, 32), process.processor.text(path)
    return attempt(process, lambda: write_status(process, to, os.stat(
        name, dir_fd=None if at == _AT_CWD else at, follow_symlinks=not flags & _NO_FOLLOW)))  # fmt: skip


@function("_access")
def check_access(process: Process, path: int, mode: int) -> int:
    name = process.processor.text(path)
    if os.access(name, mode):
        return 0
    set_error(process, errno.EACCES if os.access(name, os.F_OK) else errno.ENOENT)
    return _FAILED


@function("_readlink")
def read_link(process: Process, path: int, to: int, size: int) -> int:
    def action() -> int:
        data = os.readlink(process.processor.text(path))[:size]  # noqa: PTH115  # bytes
        process.processor.write(to, data)
        return len(data)

    return attempt(process, action)


@function("_realpath$DARWIN_EXTSN", "_realpath")
def resolve(process: Process, path: int, to: int) -> int:
    try:
        path_text = os.path.realpath(process.processor.text(path), strict=True)
    except OSError as error:
        set_error(process, error.errno or errno.EIO)
        return 0
    if not to:
        return process.allocate_text(path_text)
    process.processor.write(to, path_text + b"\0")
    return to


@function("_getcwd")
def find_current_folder(process: Process, to: int, size: int) -> int:
    try:
        path_text = os.getcwdb()  # noqa: PTH109  # bytes
    except OSError as error:
        set_error(process, error.errno or errno.EIO)
        return 0
    if not to:
        return process.allocate_text(path_text)
    if len(path_text) >= size:
        set_error(process, errno.ERANGE)
        return 0
    process.processor.write(to, path_text + b"\0")
    return to


@function("_chdir")
def change_folder(process: Process, path: int) -> int:
    return attempt(process, lambda: os.chdir(process.processor.text(path)))


@function("_fchdir")
def change_to_open(process: Process, file: int) -> int:
    return attempt(process, lambda: os.fchdir(signed(file, 32)))


@function("_opendir", "_opendir$INODE64")
def open_folder(process: Process, path: int) -> int:
    try:
        entries = iter(sorted(os.scandir(process.processor.text(path)), key=lambda entry: entry.name))
    except OSError as error:
        set_error(process, error.errno or errno.EIO)
        return 0
    address = process.allocate(1100)
    streams(process).folders[address] = (address, entries)
    return address


@function("_readdir", "_readdir$INODE64")
def read_folder(process: Process, folder: int) -> int:
    """struct dirent with 64-bit inodes (sys/dirent.h)."""
    entry = next(streams(process).folders[folder][1], None)
    if entry is None:
        return 0
    kind = {stat.S_IFDIR: 4, stat.S_IFREG: 8, stat.S_IFLNK: 10}.get(
        stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), 0
    )
    head = struct.pack("<QQHHB", entry.inode(), 0, 1048, len(entry.name), kind)
    process.processor.write(folder, head + entry.name + b"\0")
    return folder


@function("_closedir")
def close_folder(process: Process, folder: int) -> int:
    streams(process).folders.pop(folder)
    process.release(folder)
    return 0
