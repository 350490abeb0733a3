"""What JARs say, and the checks of them alone."""
