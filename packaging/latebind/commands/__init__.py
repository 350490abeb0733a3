"""Commands with arguments of their own: what `latebind --help` shows of them, and one call each; decides nothing."""
