"""What variables stand for while a program is replayed, with changes that can be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .nodes import Operand, Var

if TYPE_CHECKING:
    from collections.abc import Generator

    _Base = dict[Var, Operand]
else:
    _Base = dict


class Bindings(_Base):
    """A mapping that remembers what each change replaced, so that leaving a block costs what was
    bound in it, not what is bound around it.

    >>> from .types import F64
    >>> x, a, b = Var(F64, "x"), Var(F64, "a"), Var(F64, "b")
    >>> bindings = Bindings()
    >>> bindings[x] = a
    >>> with bindings.scope():
    ...     bindings[x] = b
    ...     print(bindings[x])
    b
    >>> bindings[x]
    a
    """

    def __init__(self) -> None:
        super().__init__()
        self._replaced: list[tuple[Var, Operand | None]] = []

    def __setitem__(self, var: Var, operand: Operand) -> None:
        self._replaced.append((var, self.get(var)))
        super().__setitem__(var, operand)

    def bind(self, pairs: Iterable[tuple[Var, Operand]]) -> None:
        """Sets many."""
        for var, operand in pairs:
            self[var] = operand

    def forget(self, variables: Iterable[Var]) -> None:
        """The variables stand for nothing any more."""
        for var in variables:
            if var in self:
                self._replaced.append((var, super().pop(var)))

    @contextmanager
    def scope(self) -> Generator[None]:
        """Takes back, at its end, what changed in it."""
        mark = len(self._replaced)
        try:
            yield
        finally:
            while len(self._replaced) > mark:
                var, operand = self._replaced.pop()
                if operand is None:
                    super().pop(var, None)
                else:
                    super().__setitem__(var, operand)
