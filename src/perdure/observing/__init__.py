"""What is seen of runs from outside: counts, times, traces and lines of a log. All of it is folded from facts."""
