from collections.abc import Callable
from typing import Any, TypeVar

Pass = TypeVar("Pass", bound=type[Any])

def register_pass(*, mutates_CFG: bool, analysis_only: bool) -> Callable[[Pass], Pass]: ...
def __getattr__(name: str) -> Any: ...
