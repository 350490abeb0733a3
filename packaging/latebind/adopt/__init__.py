"""Takes latebind into an existing project: finds what links a runtime, shows each change before it is made."""
