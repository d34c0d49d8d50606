"""Branches: copies of the workspace that things are tried on, and what becomes of those that are good."""
