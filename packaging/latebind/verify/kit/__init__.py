"""A folder that verifies the packages on another computer."""
