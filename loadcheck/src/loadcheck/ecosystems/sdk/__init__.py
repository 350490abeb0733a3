"""What SDK archives say, and the checks of them alone."""
