from typing import Any

class BaseNativeLowering:
    _name: str

def __getattr__(name: str) -> Any: ...
