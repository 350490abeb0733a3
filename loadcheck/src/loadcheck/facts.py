"""Facts of packages and binaries, as loadcheck's readers yield them (`loadcheck` says what is kept)."""

from loadcheck.archive import ZipReader
from loadcheck.binary import Format, Image, floors, is_managed, read_images, sniff
from loadcheck.binary.elffile import ElfFile
from loadcheck.binary.floors import is_glibc
from loadcheck.binary.macho import MachoFile
from loadcheck.binary.pe import import_library
from loadcheck.binary.read import PEEK, read_image
from loadcheck.binary.signature import list_directories
from loadcheck.checks.parts import read_version
from loadcheck.checks.symbols import CXX, FIX_ON_MACOS, list_offered_exports
from loadcheck.containers import Tar
from loadcheck.ecosystems.maven.pom import MavenArtifact, read_pom
from loadcheck.ecosystems.maven.reading import find_pom
from loadcheck.ecosystems.nuget.reading import FEED_LIMIT, native_place, nupkg_id, nupkg_version, whole_id
from loadcheck.engine import platforms
from loadcheck.engine.kinds import TwinFacts, audited_kinds, find_kind
from loadcheck.engine.wording import demangle
from loadcheck.formats import FORMATS, SDK_FILE, PackageFormat, iter_members
from loadcheck.model import SYMBOLS_MANIFEST, SYMBOLS_SUFFIX
from loadcheck.readers.contents import GRAFTED, PROVIDER_ENTRY, Contents, File
from loadcheck.readers.environment import LOADER_FOLDERS
from loadcheck.readers.opc import readable_nuspec
from loadcheck.readers.opened import parse_python
from loadcheck.readers.package import kind_of, read_package
from loadcheck.readers.package_json import read_manifest
from loadcheck.readers.record import read_metadata
from loadcheck.tables.pythonabi import ABI3T, PythonVersion, floor_of, module_abi, newest, stable_names
from loadcheck.tables.torchabi import find_first_versions, list_unstable

__all__ = [
    "ABI3T", "CXX", "FEED_LIMIT", "FIX_ON_MACOS", "FORMATS", "GRAFTED", "LOADER_FOLDERS", "PEEK", "PROVIDER_ENTRY",
    "SDK_FILE", "SYMBOLS_MANIFEST", "SYMBOLS_SUFFIX", "Contents", "ElfFile", "File", "Format", "Image", "MachoFile",
    "MavenArtifact", "PackageFormat", "PythonVersion", "Tar", "TwinFacts", "ZipReader", "audited_kinds", "demangle",
    "find_first_versions", "find_kind", "find_pom", "floor_of", "floors", "import_library", "is_glibc", "is_managed",
    "iter_members", "kind_of", "list_directories", "list_offered_exports", "list_unstable", "module_abi",
    "native_place", "newest", "nupkg_id", "nupkg_version", "parse_python", "platforms", "read_image", "read_images",
    "read_manifest", "read_metadata", "read_package", "read_pom", "read_version", "readable_nuspec", "sniff",
    "stable_names", "whole_id",
]  # fmt: skip
