"""npm packages: one for each target and a main one."""
