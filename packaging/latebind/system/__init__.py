"""Processes, files and the console: the only modules that touch the operating system directly."""
