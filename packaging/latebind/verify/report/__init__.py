"""The report of a verification, its renderings and the gate."""
