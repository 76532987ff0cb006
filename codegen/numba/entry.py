"""The entry of a native kernel: reads its arguments from the table, and calls what Numba lowered.

Arrays that do not overlap are marked `noalias` at the call, which is then inlined.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..native import ArrayParam, ScalarParam, Signature
from ..objects import symbol


def entry_text(name: str, callee: str, params: Signature) -> str:
    """The entry of the kernel `name`, as LLVM text.

    callee : the symbol that Numba gave the kernel
    """
    lines: list[str] = []
    arguments: list[str] = []
    slots = _slots(lines)
    for param in params:
        if isinstance(param, ScalarParam):
            arguments += _scalar_arguments(lines, slots, param)
        else:
            arguments += _array_arguments(lines, slots, param)
    passed = ", ".join(["ptr %result", "ptr %error", *arguments])
    taken = ", ".join(["ptr", "ptr", *(a.split()[0] for a in arguments)])
    return "\n".join(
        [
            f'declare i32 @"{callee}"({taken})',
            f"define void @{symbol(name)}(ptr noalias readonly %table) {{",
            "  %result = alloca ptr",
            "  %error = alloca ptr",
            *lines,
            f'  call i32 @"{callee}"({passed})',
            "  ret void",
            "}",
        ]
    )


def _slots(lines: list[str]) -> Iterator[str]:
    """Names of the table's slots, each loaded into `lines` when it is asked for."""
    slot = 0
    while True:
        lines.append(f"  %p{slot} = getelementptr i64, ptr %table, i64 {slot}")
        lines.append(f"  %s{slot} = load i64, ptr %p{slot}")
        yield f"%s{slot}"
        slot += 1


def _scalar_arguments(lines: list[str], slots: Iterator[str], param: ScalarParam) -> list[str]:
    arguments: list[str] = []
    for _ in range(param.slots):
        slot = next(slots)
        bits = param.dtype.itemsize // param.slots * 8
        value, kind = slot, f"i{bits}"
        if bits < 64:
            lines.append(f"  {slot}.low = trunc i64 {slot} to {kind}")
            value = f"{slot}.low"
        if param.dtype.kind in "fc":
            lines.append(f"  {slot}.real = bitcast {kind} {value} to {_REAL[bits]}")
            value, kind = f"{slot}.real", _REAL[bits]
        arguments.append(f"{kind} {value}")
    return arguments


_REAL = {32: "float", 64: "double"}


def _array_arguments(lines: list[str], slots: Iterator[str], param: ArrayParam) -> list[str]:
    """Numba's order: owner, parent, number of items, item size, data, shape, strides."""
    address = next(slots)
    sizes = [next(slots) for _ in range(param.ndim)]
    strides = [next(slots) for _ in range(param.ndim)]
    lines.append(f"  {address}.data = inttoptr i64 {address} to ptr")
    count = "1"
    for size in sizes:
        lines.append(f"  {size}.count = mul i64 {count}, {size}")
        count = f"{size}.count"
    alias = "" if param.may_alias else "noalias "
    return [
        "ptr null",
        "ptr null",
        f"i64 {count}",
        f"i64 {param.dtype.itemsize}",
        f"ptr {alias}{address}.data",
        *(f"i64 {s}" for s in (*sizes, *strides)),
    ]
