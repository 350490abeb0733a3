"""What is tried: scenarios, consumers, versions and machines."""
