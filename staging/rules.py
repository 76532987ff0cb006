"""Rewrite rules of smart construction, by op class.

A rule takes the builder and an op about to be emitted and returns the operands to use instead, or
None to decline. Rules belong to op classes: `@rule(Apply)` beside the algebra that it states. A
rule may emit simpler ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from .nodes import Op, Operand

if TYPE_CHECKING:
    from .builder import Builder

O = TypeVar("O", bound=Op)
Rule = Callable[["Builder", O], tuple[Operand, ...] | None]

_rules: dict[type[Op], list[Rule[Op]]] = {}


def rule(op_type: type[O]) -> Callable[[Rule[O]], Rule[O]]:
    """Registers a rule for one class of ops."""

    def register(function: Rule[O]) -> Rule[O]:
        _rules.setdefault(op_type, []).append(cast("Rule[Op]", function))
        return function

    return register


def apply(builder: Builder, op: Op) -> tuple[Operand, ...] | None:
    """The first rule's answer, None when all decline."""
    for candidate in _rules.get(type(op), ()):
        found = candidate(builder, op)
        if found is not None:
            return found
    return None
