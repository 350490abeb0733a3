"""What a check is, which checks there are, which of them apply, and what they know about platforms."""
