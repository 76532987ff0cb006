"""Domain-specific languages: types, operations and rewrite rules side by side."""

if __name__ != "parloom.dsls":
    raise ImportError(f"import this as parloom.dsls, not {__name__}")
