"""JARs for Maven repositories: native libraries of all targets, and a class that loads them."""
