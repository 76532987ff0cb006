"""NumPy functions on staged arrays."""
