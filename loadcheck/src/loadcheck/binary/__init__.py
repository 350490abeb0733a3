"""Reads native binaries of three formats into one model."""

from loadcheck.binary.image import Data, Export, Format, Image, Import
from loadcheck.binary.read import is_managed, list_text_ranges, read_image, read_images, sniff

__all__ = [
    "Data",
    "Export",
    "Format",
    "Image",
    "Import",
    "is_managed",
    "list_text_ranges",
    "read_image",
    "read_images",
    "sniff",
]
