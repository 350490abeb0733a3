"""What npm packages say, and the checks of them alone."""
