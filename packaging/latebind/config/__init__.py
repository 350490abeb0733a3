"""latebind.toml: its types, reading it, checking it, and the schema made from them."""
