"""Adds an SBOM to any wheel."""
