"""Reports of an audit: console, JSON, SARIF, JUnit, Markdown, GitHub."""
