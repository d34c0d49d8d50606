"""Tools: what a step can have done, from Python functions."""
