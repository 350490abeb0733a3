"""What the tests ask axe-core, it finds: each fault that pages had, in a page of faults, and none in a good page."""

import pytest

from tests.support.axe import find_violations

FAULTS = {
    "image-alt": '<img src="data:,">',
    "link-name": '<a href="#"></a>',
    "button-name": "<button></button>",
    "label": '<input type="text">',
    "color-contrast": '<p style="color: #777; background: #eee">grey on grey</p>',
    "link-in-text-block": '<p>see <a href="#" style="color: #222; text-decoration: none">it</a>.</p>',
    "landmark-unique": "<nav><p>one</p></nav><nav><p>other</p></nav>",
    "aria-dialog-name": '<div role="dialog">search</div>',
    "aria-allowed-role": '<nav role="group" aria-label="copy"><p>copy</p></nav>',
    "empty-table-header": "<table><thead><tr><th></th><th>b</th></tr></thead><tr><td>1</td><td>2</td></tr></table>",
    "scrollable-region-focusable": '<div style="overflow: auto; width: 2em"><pre>a long line</pre></div>',
    "region": "<p>outside the landmarks</p>",
    "heading-order": "<h1>one</h1><h4>four</h4>",
}
"""HTML that breaks a rule, by the rule."""
GOOD = '<html lang="en"><title>Good</title><main><h1>Good</h1><p>See <a href="#">it</a>.</p></main></html>'


@pytest.fixture
def page(browser):
    with browser.new_page() as opened:
        yield opened


@pytest.mark.builds
@pytest.mark.browser
def test_each_fault_is_found(page, axe):
    page.set_content("".join(FAULTS.values()))
    found = {violation.partition(":")[0] for violation in find_violations(page, axe)}
    assert {*FAULTS, "html-has-lang", "document-title"} - found == set()


@pytest.mark.builds
@pytest.mark.browser
def test_nothing_is_found_in_a_good_page(page, axe):
    page.set_content(GOOD)
    assert find_violations(page, axe) == []
