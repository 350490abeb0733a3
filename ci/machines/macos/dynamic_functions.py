"""dlopen(3), dladdr(3), dyld(3) and thread-local variables."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ci.machines.macos.dyld import Dyld, NotLoadedError
from ci.machines.macos.image import Image, UnusableError
from ci.machines.macos.process import function
from ci.machines.macos.text_functions import signed

if TYPE_CHECKING:
    from ci.machines.macos.process import Process, Steps

_NO_LOAD, _FIRST = 0x10, 0x100
_DEFAULT, _SELF, _MAIN_ONLY = -2, -3, -5
_HANDLES = 0x6000_0000


def dyld_of(process: Process) -> Dyld:
    """The dyld of a process."""
    return cast("Dyld", process.state["dyld"])


def _handle(process: Process, image: Image, mode: int) -> int:
    return _HANDLES + 32 * dyld_of(process).images.index(image) + (1 if mode & _FIRST else 0)


def _image(process: Process, handle: int) -> tuple[Image, bool] | None:
    number, first = divmod(handle - _HANDLES, 32)
    images = dyld_of(process).images
    return (images[number], bool(first)) if 0 <= number < len(images) and first in (0, 1) else None


def _fail(process: Process, message: str) -> int:
    process.state["dlerror"] = message
    return 0


def _tried(dyld: Dyld, name: str, caller: Image) -> list[Path]:
    """What dlopen() of a name looks at. A name without a folder is looked for in the current one, too."""
    chain = (dyld.program,) if caller is dyld.program else (dyld.program, caller)
    if name.startswith("@") or "/" in name:
        return list(dyld.candidates(name, chain))
    listed = os.environ.get("DYLD_LIBRARY_PATH", "").split(":")
    fallback = os.environ.get("DYLD_FALLBACK_LIBRARY_PATH", "/usr/local/lib:/usr/lib").split(":")
    return [Path(folder, name) for folder in (*filter(None, listed), ".", *fallback)]


@function("_dlopen")
def open_library(process: Process, name_at: int, mode: int) -> Steps:
    dyld = dyld_of(process)
    if not name_at:
        return _handle(process, dyld.program, mode)
    name = os.fsdecode(process.processor.text(name_at))
    tried = []
    for path in _tried(dyld, name, _find_caller(process)):
        if loaded := dyld.find_loaded(path):
            loaded.references += 1
            return _handle(process, loaded, mode)
        if mode & _NO_LOAD:
            continue
        try:
            image = dyld.load(path, (dyld.program,))
        except UnusableError as error:
            tried.append(f"'{path}' ({error})")
        except NotLoadedError as error:
            return _fail(process, f"dlopen({name}, {mode:#06x}): {error}")
        else:
            yield from dyld.initialize(image)
            return _handle(process, image, mode)
    if mode & _NO_LOAD:
        return 0
    return _fail(process, f"dlopen({name}, {mode:#06x}): tried: {', '.join(tried)}")


def _find_caller(process: Process) -> Image:
    """The image that called the function of libSystem which runs."""
    processor = process.processor
    link = processor.kind.link
    address = processor.read(link) if link is not None else processor.word(processor.read(processor.kind.stack))
    dyld = dyld_of(process)
    return next((image for image in dyld.images if image.contains(address)), dyld.program)


@function("_dlsym")
def find_symbol(process: Process, handle: int, name_at: int) -> int:
    dyld, name = dyld_of(process), process.processor.text(name_at).decode("utf-8", "replace")
    number = signed(handle)
    address: int | None = None
    if number in (_DEFAULT, -1):
        address = dyld.find_anywhere(f"_{name}")
    elif number == _MAIN_ONLY:
        address = dyld.program.find_export(f"_{name}")
    elif number == _SELF:
        address = dyld.find_symbol(_find_caller(process), f"_{name}")
    elif opened := _image(process, handle):
        address = _search(dyld, opened[0], f"_{name}", only=opened[1])
    else:
        return _fail(process, f"dlsym({handle:#x}, {name}): invalid handle")
    return address or _fail(process, f"dlsym({handle:#x}, {name}): symbol not found")


def _search(dyld: Dyld, first: Image, name: str, *, only: bool) -> int | None:
    """A handle's image, then what it needs, breadth first."""
    queue, seen = [first], {id(first)}
    for current in queue:
        address = dyld.find_symbol(current, name)
        if address is not None or only:
            return address
        fresh = [image for image in filter(None, current.dependencies) if id(image) not in seen]
        seen |= {id(image) for image in fresh}
        queue += fresh
    return dyld.find_system(name)


@function("_dlerror")
def take_error(process: Process) -> int:
    message = process.state.pop("dlerror", None)
    return process.allocate_text(os.fsencode(message)) if message else 0


@function("_dlclose")
def close_library(process: Process, handle: int) -> int:
    """Libraries stay, as those that have thread-local variables or Objective-C do on a Mac."""
    opened = _image(process, handle)
    if opened is None:
        _fail(process, f"dlclose({handle:#x}): invalid handle")
        return (1 << 64) - 1
    opened[0].references -= 1
    return 0


@function("_dladdr")
def describe_address(process: Process, address: int, info: int) -> int:
    dyld = dyld_of(process)
    image = next((image for image in dyld.images if image.contains(address)), None)
    if image is None:
        return 0
    near = [
        (offset + image.header, name)
        for name, offset in image.contents.exports.items()
        if offset + image.header <= address
    ]
    at, name = max(near, default=(0, ""))
    text = process.allocate_text(name.removeprefix("_").encode()) if at else 0
    process.processor.write(info, struct.pack("<QQQQ", _name_of(process, image), image.header, text, at))
    return 1


def _name_of(process: Process, image: Image) -> int:
    """The address of an image's path; the same for each call."""
    names: dict[int, int] = process.state.setdefault("names", {})
    if id(image) not in names:
        names[id(image)] = process.allocate_text(os.fsencode(image.path))
    return names[id(image)]


@function("__NSGetMachExecuteHeader")
def find_program_header(process: Process) -> int:
    return dyld_of(process).program.header


@function("__dyld_image_count")
def count_images(process: Process) -> int:
    return len(dyld_of(process).images)


@function("__dyld_get_image_name")
def name_image(process: Process, index: int) -> int:
    images = dyld_of(process).images
    return _name_of(process, images[index]) if index < len(images) else 0


@function("__dyld_get_image_header")
def find_header(process: Process, index: int) -> int:
    images = dyld_of(process).images
    return images[index].header if index < len(images) else 0


@function("__dyld_get_image_vmaddr_slide")
def find_slide(process: Process, index: int) -> int:
    images = dyld_of(process).images
    return images[index].slide if index < len(images) else 0


@function("__dyld_get_image_header_containing_address")
def find_header_of(process: Process, address: int) -> int:
    return next((image.header for image in dyld_of(process).images if image.contains(address)), 0)


@function("_dyld_image_path_containing_address")
def find_path_of(process: Process, address: int) -> int:
    images = dyld_of(process).images
    return next((_name_of(process, image) for image in images if image.contains(address)), 0)


@function("__NSGetExecutablePath")
def write_program_path(process: Process, to: int, size_at: int) -> int:
    path = os.fsencode(dyld_of(process).program.path) + b"\0"
    size = int.from_bytes(process.processor.read_bytes(size_at, 4), "little")
    process.processor.write(size_at, len(path).to_bytes(4, "little"))
    if size < len(path):
        return (1 << 64) - 1
    process.processor.write(to, path)
    return 0


@function("<thread local>")
def find_thread_local(process: Process, descriptor: int) -> int:
    """The address of this thread's copy of a variable. dyld's own keeps every other register, as this does."""
    number, offset = process.processor.word(descriptor + 8), process.processor.word(descriptor + 16)
    copies = process.current.variables
    if number not in copies:
        template = dyld_of(process).images[number].thread_local_template(process.processor)
        copies[number] = process.allocate(len(template))
        process.processor.write(copies[number], template)
    return copies[number] + offset
