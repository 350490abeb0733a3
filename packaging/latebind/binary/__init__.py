"""One model of a native binary over three formats; reads bytes, never runs anything."""
