"""The checks of late binding, and the rules that a project sets for them."""
