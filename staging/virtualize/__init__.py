"""Rewriting of the user's functions, so that control flow, calls and captured variables can be
staged.

    sources.py     the AST of a function that exists
    scopes.py      which names it assigns, which it captures
    returns.py     early returns become one
    jumps.py       break, continue and the other returns become flags
    rewrite.py     expressions
    statements.py  statements
    build.py       back to a function: same file, lines and columns, same globals, the same live
    closure cells

What the rewritten code calls is in hooks.py.
"""

from .build import is_rewritten, virtualize

__all__ = ["is_rewritten", "virtualize"]
