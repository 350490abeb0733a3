"""From sources to packages: native build, stage, wheels, nupkgs."""
