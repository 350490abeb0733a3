"""Builds a wheel from an sdist of a project: the part of latebind that each sdist carries. It imports nothing else."""
