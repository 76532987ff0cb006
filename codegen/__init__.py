"""Back ends: each prints, builds and runs Kernel IR for one target."""

if __name__ != "parloom.codegen":
    raise ImportError(f"import this as parloom.codegen, not {__name__}")
