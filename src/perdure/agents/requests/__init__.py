"""Requests, read without a model: what could be a value in them, which tools they mean, and what those are given."""
