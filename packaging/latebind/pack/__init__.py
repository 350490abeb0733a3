"""Packs a project: every ecosystem's files from one native build, remaking only what has changed."""
