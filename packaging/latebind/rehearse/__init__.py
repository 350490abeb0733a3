"""`latebind rehearse`: the whole way of a release on this machine."""
