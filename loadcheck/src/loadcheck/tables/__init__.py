"""Facts of the systems that packages are for."""
