# llvmlite ships no types: everything is Any.
from typing import Any

def __getattr__(name: str) -> Any: ...
