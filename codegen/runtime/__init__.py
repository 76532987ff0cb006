"""Running compiled programs: threads, launches of kernels, the sequential part."""

if __name__ != "parloom.codegen.runtime":
    raise ImportError(f"import this as parloom.codegen.runtime, not {__name__}")
