"""Tests of the order desk; `python3 -m unittest` runs them."""
