"""The routines that programs may call, one class each: sorting, linear algebra, FFTs."""

from . import fourier, linear_algebra, sorting

__all__ = ["fourier", "linear_algebra", "sorting"]
