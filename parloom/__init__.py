"""parloom: write plain Python over arrays, get fused parallel kernels that you can read."""

__version__ = "0.1.0"
