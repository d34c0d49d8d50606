"""Heads: who makes plans, judges them and grows them. What needs a model's judgement, or stands in for it."""
