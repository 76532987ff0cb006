from collections.abc import Callable
from typing import Any, TypeVar

Template = TypeVar("Template", bound=type[Any])

class AbstractTemplate:
    context: Any

class ConcreteTemplate:
    context: Any

def infer_global(value: Any, /) -> Callable[[Template], Template]: ...
def __getattr__(name: str) -> Any: ...
