"""Passes from staged programs to kernels, one pass a file."""

if __name__ != "parloom.transforms":
    raise ImportError(f"import this as parloom.transforms, not {__name__}")
