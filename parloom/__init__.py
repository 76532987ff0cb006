"""parloom: write plain Python over arrays, get fused parallel kernels that you can read."""

from .patterns.eager import Array
from .patterns.public import asarray, collect, range

__version__ = "0.1.0"

__all__ = ["Array", "__version__", "asarray", "collect", "range"]
