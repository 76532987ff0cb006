"""Functions in LLVM IR that a module defines for itself."""

from __future__ import annotations

from collections.abc import Mapping

from ..vector_math import Routine, wrappers


def definitions(used: Mapping[str, Routine | None]) -> list[str]:
    """The functions of these names: wrappers of their routines, integer powers without one."""
    powers = [line for name, r in used.items() if r is None for line in (*power(name), "")]
    return [*powers, *wrappers(r for r in used.values() if r is not None)]


def power(name: str) -> list[str]:
    """Integer power by repeated squaring, `power_i64` and so on: wraps; a negative exponent gives
    0 unless the base is 1 or -1."""
    kind = name.removeprefix("power_").replace("u", "i")
    signed = "false" if "u" in name else "true"
    return f"""define internal {kind} @{name}({kind} %base, {kind} %exponent) nounwind {{
entry:
  %below = icmp slt {kind} %exponent, 0
  %negative = and i1 %below, {signed}
  br i1 %negative, label %small, label %head
small:
  %one = icmp eq {kind} %base, 1
  %minus = icmp eq {kind} %base, -1
  %odd = and {kind} %exponent, 1
  %twice = shl {kind} %odd, 1
  %flipped = sub {kind} 1, %twice
  %alternate = select i1 %minus, {kind} %flipped, {kind} 0
  %tiny = select i1 %one, {kind} 1, {kind} %alternate
  ret {kind} %tiny
head:
  %result = phi {kind} [1, %entry], [%next, %body]
  %square = phi {kind} [%base, %entry], [%squared, %body]
  %left = phi {kind} [%exponent, %entry], [%halved, %body]
  %done = icmp eq {kind} %left, 0
  br i1 %done, label %end, label %body
body:
  %bit = and {kind} %left, 1
  %set = icmp ne {kind} %bit, 0
  %product = mul {kind} %result, %square
  %next = select i1 %set, {kind} %product, {kind} %result
  %squared = mul {kind} %square, %square
  %halved = lshr {kind} %left, 1
  br label %head
end:
  ret {kind} %result
}}""".splitlines()
