"""The CPU target: kernels printed as readable Python, compiled by Numba or run as they are."""

if __name__ != "parloom.codegen.cpu":
    raise ImportError(f"import this as parloom.codegen.cpu, not {__name__}")
