"""Reports of an audit: console, HTML, JSON, SARIF, JUnit, Markdown, GitHub."""
