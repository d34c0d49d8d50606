"""Estimates: what things take, what a plan will take, how far a run is. Folds over facts, and runs that are simulated.

Nothing here is journalled: an estimate follows from the runs that were over when it was made, and is made again.
"""
