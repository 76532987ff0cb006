"""Measurements of parloom against idiomatic NumPy and hand-written Numba."""
