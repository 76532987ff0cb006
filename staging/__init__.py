"""Types, nodes, the builder, tracing, and the pass driver: the core that knows no pattern."""

if __name__ != "parloom.staging":
    raise ImportError(f"import this as parloom.staging, not {__name__}")
