"""Language models: one call of one model, whoever provides it."""
