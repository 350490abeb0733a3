"""Checks, policies and audits: what checks and programs of other distributions import (docs/howto/checks.md)."""

from loadcheck.audit import audit_here, audit_paths
from loadcheck.engine.catalog import FAMILIES, checks, explain
from loadcheck.engine.check import ARCHIVES, INSTALLED, Check, Hit, Hits, Skip, check
from loadcheck.engine.policy import Choice, Policy, Waiver, fits_any, read_codes
from loadcheck.engine.supply import comparable_version, requirement_rows
from loadcheck.engine.wording import count_line, first, links, own_name, some
from loadcheck.index.settings import explain_no_index
from loadcheck.options import choose_checks, load_baseline, print_report
from loadcheck.reports.markdown import audit_markdown
from loadcheck.reports.pages import render_page
from loadcheck.reports.render import audit_json, audit_schema

__all__ = [
    "ARCHIVES", "FAMILIES", "INSTALLED", "Check", "Choice", "Hit", "Hits", "Policy", "Skip", "Waiver", "audit_here",
    "audit_json", "audit_markdown", "audit_paths", "audit_schema", "check", "checks", "choose_checks",
    "comparable_version", "count_line", "explain", "explain_no_index", "first", "fits_any", "links", "load_baseline",
    "own_name", "print_report", "read_codes", "render_page", "requirement_rows", "some",
]  # fmt: skip
