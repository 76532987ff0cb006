"""Kernel IR printed as LLVM IR, compiled by llvmlite alone."""

if __name__ != "parloom.codegen.llvm":
    raise ImportError(f"import this as parloom.codegen.llvm, not {__name__}")
