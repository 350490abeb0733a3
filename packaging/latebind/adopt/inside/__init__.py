"""Programs that run inside clean environments, with the standard library alone."""
