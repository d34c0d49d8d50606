"""What ships for those who test against Perdure, or write a part of their own for it."""
