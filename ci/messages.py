"""Makes the page about messages of loaders from packaging/latebind/tables/messages.toml."""

from __future__ import annotations

from latebind.tables.messages import Section, sections

_BOOST = """\
---
search:
  boost: 3 # whoever types a message wants this page first
---

"""
_PAGE = """\
<!-- Made by ci/messages.py from packaging/latebind/tables/messages.toml. -->

# What does this message mean?

Search this page for the words of your message, or let latebind find the section:

```console
$ latebind doctor --message "libcudart.so.13: cannot open shared object file"
```

If a message contains another one, the last part names the cause. `FILE` is the library that the message names, `NAME`
the package. [loadcheck](../../loadcheck/README.md) finds many of these problems in a package before its users do. For
messages of latebind's own loader, see ["runtime not found"](not-found.md).
"""


def page() -> str:
    """docs/howto/messages.md."""
    return _BOOST + _PAGE + "".join(map(_render, sections()))


def _render(section: Section) -> str:
    messages = "\n".join(section.messages)
    shown = f"\n```text\n{messages}\n```\n" if messages else ""
    parts = (f"\n**{heading}**\n\n{text}\n" for heading, text in section.parts())
    return f"\n## {section.title}\n{shown}{''.join(parts)}"
