"""The Numba printer of the CPU target: readable kernels that also run as plain Python."""

if __name__ != "parloom.codegen.numba":
    raise ImportError(f"import this as parloom.codegen.numba, not {__name__}")
