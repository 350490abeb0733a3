"""Reads native binaries of three formats into one model."""

from loadcheck.binary.image import Data, Export, Format, Image, Import
from loadcheck.binary.read import is_managed, read_image, read_images, sniff

__all__ = ["Data", "Export", "Format", "Image", "Import", "is_managed", "read_image", "read_images", "sniff"]
