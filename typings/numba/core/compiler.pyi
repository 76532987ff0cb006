from typing import Any

class Flags:
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

class CompilerBase:
    state: Any

def __getattr__(name: str) -> Any: ...
