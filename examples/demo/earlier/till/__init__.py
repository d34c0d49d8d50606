"""The order desk of a small shop."""
