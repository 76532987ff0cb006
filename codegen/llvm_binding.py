"""LLVM through llvmlite, which is imported when it is used for the first time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import llvmlite.binding as llvm
else:

    class _Binding:
        """Has the names of `llvmlite.binding`."""

        def __getattr__(self, name):
            import llvmlite.binding

            return getattr(llvmlite.binding, name)

    llvm = _Binding()

__all__ = ["llvm"]
