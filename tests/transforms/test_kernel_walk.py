"""What a walk over Kernel IR finds."""

from __future__ import annotations

import numpy as np

from parloom.staging import primitives as p
from parloom.transforms.kernel_ir import (
    Assign,
    Buffer,
    Expr,
    Fault,
    For,
    If,
    Let,
    Literal,
    Load,
    Local,
    LoopKind,
    Merge,
    Prim,
    Space,
    Statement,
    Store,
    While,
)
from parloom.transforms.kernel_walk import (
    bound,
    leaves,
    nodes,
    parameters,
    stays_in_scratch,
)

F64, INT, TRUTH = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_)
ZERO, TRUE = Literal(np.int64(0)), Literal(np.bool_(True))
X = Buffer("x", F64, (4,), Space.INPUT)
OUT = Buffer("out", F64, (4,), Space.OUTPUT)
LANES = Buffer("lanes", F64, (4,), Space.PRIVATE)
FAULT = Buffer("fault", INT, (2,), Space.FAULT)
I, A, B = Local("i", INT), Local("a", F64), Local("b", F64)


def plus(a: Expr, b: Expr) -> Expr:
    return Prim(p.ADD, (a, b), a.dtype)


def test_leaves_stand_in_the_order_of_the_fields() -> None:
    store = Store(OUT, (I,), plus(Load(X, (I,)), A))
    assert list(leaves(store)) == [OUT, I, X, I, A]
    fault = Fault(0, I)
    assert list(leaves([If(TRUE, (fault,)), Merge(OUT, X, p.ADD)])) == [fault, I, OUT, X]


def test_bound_are_the_locals_of_let_and_for() -> None:
    body: list[Statement] = [Let(A, Load(X, (I,))), Assign(B, A)]
    assert list(bound([For(I, ZERO, ZERO, body)])) == [I, A]
    assert list(bound(While([Let(A, A)], TRUE, [Let(B, A)]))) == [A, B]


def test_nodes_are_all_but_locals_and_buffers() -> None:
    value = plus(A, Load(X, (ZERO,)))
    found = list(nodes([Let(B, value)]))
    assert [type(x) for x in found] == [Let, Prim, Load, Literal]


def test_parameters_are_what_is_free_in_the_order_of_use() -> None:
    body: list[Statement] = [
        For(I, A, B, [Let(Local("t", F64), Load(X, (I,))), Store(OUT, (I,), B)])
    ]
    assert parameters(body, (), FAULT) == (A, B, X, OUT)
    assert parameters(body, (A,), FAULT) == (B, X, OUT)


def test_the_fault_record_is_the_last_parameter() -> None:
    body: list[Statement] = [If(TRUE, (Fault(0, A),)), Store(OUT, (ZERO,), B)]
    assert parameters(body, (), FAULT) == (A, OUT, B, FAULT)


def over_lanes(*body: Statement) -> For:
    return For(I, ZERO, Literal(np.int64(4)), body, LoopKind.LANES)


def test_a_loop_over_scratch_alone_may_run_too_far() -> None:
    value = Load(LANES, (I,))
    assert stays_in_scratch(over_lanes(Let(A, value), Store(LANES, (I,), plus(A, A))))
    assert stays_in_scratch(over_lanes(Store(LANES, (I,), Load(X, (ZERO,)))))


def test_a_loop_that_reads_or_writes_outside_at_its_index_may_not() -> None:
    assert not stays_in_scratch(over_lanes(Store(OUT, (I,), Load(LANES, (I,)))))
    assert not stays_in_scratch(over_lanes(Store(LANES, (I,), Load(X, (I,)))))
    assert not stays_in_scratch(over_lanes(If(TRUE, (Fault(0, I),))))


def test_a_loop_that_reads_where_old_contents_say_may_not() -> None:
    at = Local("at", INT)
    places = Buffer("places", INT, (4,), Space.PRIVATE)
    gather = (Let(at, Load(places, (I,))), Store(LANES, (I,), Load(X, (at,))))
    assert not stays_in_scratch(over_lanes(*gather))
    assert not stays_in_scratch(over_lanes(Store(LANES, (I,), Load(X, (Load(places, (I,)),)))))
