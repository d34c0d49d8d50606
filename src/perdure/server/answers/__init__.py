"""Answers: what each document is made of. Nothing is made of these types; OpenAPI and its readers are told by them."""
