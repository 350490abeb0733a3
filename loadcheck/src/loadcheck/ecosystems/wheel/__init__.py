"""What wheels and sdists say, and the checks of them alone."""
