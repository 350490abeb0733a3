"""axe-core finds nothing in the page of a release."""

from dataclasses import replace

import pytest

from latebind.release.make import make_release
from tests.support.axe import find_violations


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(("commit", "state"), [("1" * 40, "✓ Publishable."), ("", "✗ Not publishable.")])
def test_axe_finds_nothing(release_inputs, browser, axe, tmp_path, width, scheme, commit, state):
    make_release(replace(release_inputs, commit=commit), tmp_path / "release", dry_run=True)
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto((tmp_path / "release" / "index.html").as_uri())
    assert page.locator(".state strong").inner_text() == state
    assert find_violations(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
