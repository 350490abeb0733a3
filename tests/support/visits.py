"""Opens HTML files in a browser that must not complain, and that must ask for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@dataclass
class Visits:
    """The pages that a test opened."""

    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, file: Path, fragment: str = "", *, width: int, **more: Any) -> Page:
        """A file in a context of its own, to which the other arguments belong."""
        context = self.browser.new_context(viewport={"width": width, "height": 844}, **more)
        page = context.new_page()
        self.contexts.append(context)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri() + fragment)
        return page


@contextmanager
def watch_visits(browser: Browser) -> Iterator[Visits]:
    """Hold that the console stays empty, and that only files are requested."""
    visits = Visits(browser)
    yield visits
    for context in visits.contexts:
        context.close()
    assert visits.complaints == []
    assert [url for url in visits.requests if not url.startswith("file://")] == []
