"""Gets the official headers of a runtime, which its packages rarely hold."""
