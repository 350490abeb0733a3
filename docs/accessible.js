// What the theme leaves out for readers with a keyboard or a screen reader.

document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");

// Two sections of the same name would be two landmarks of that name.
for (const nav of document.querySelectorAll(".md-nav--secondary .md-nav")) {
  nav.removeAttribute("aria-label");
  nav.setAttribute("role", "none");
}

// The theme puts tables and copy buttons into their places as the page loads and scrolls. What is wider than the page
// scrolls, by the keyboard too; a copy button is in a <nav>, a landmark without a name for each block of code.
function completeParts() {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, :has(> .session)")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
  for (const nav of document.querySelectorAll("nav.md-code__nav")) nav.setAttribute("role", "none");
}

completeParts();
addEventListener("load", completeParts);
new MutationObserver(completeParts).observe(document.querySelector(".md-content"), { childList: true, subtree: true });
