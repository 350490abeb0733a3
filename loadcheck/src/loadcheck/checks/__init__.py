"""The checks that concern more than one ecosystem; those of one are in its folder."""
