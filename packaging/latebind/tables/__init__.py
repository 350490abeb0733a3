"""Platforms, runtimes and Python ABIs as declared tables, and the functions that look them up."""
