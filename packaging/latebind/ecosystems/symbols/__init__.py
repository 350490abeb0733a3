"""Archives of native debug symbols."""
