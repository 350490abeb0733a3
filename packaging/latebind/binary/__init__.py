"""Reads native binaries of three formats into one model."""

from latebind.binary.exports import lacking
from latebind.binary.image import Data, Export, Format, Image, Import
from latebind.binary.read import is_managed, read_image, read_images, sniff

__all__ = ["Data", "Export", "Format", "Image", "Import", "is_managed", "lacking", "read_image", "read_images", "sniff"]
