"""Which loops are vectors: read off IR that is written here, and off kernels of known form."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.vectorisation import Loop, loops

IR = """
define internal fastcc void @parloom_f.body(i64 %n, ptr noalias %x.data, ptr noalias %o.data) #0 {
entry:
  %row = getelementptr double, ptr %x.data, i64 %n
  br label %head.1

head.1:                                           ; preds = %done, %entry
  %v.1 = call double @exp(double 0.0)
  %out = getelementptr double, ptr %o.data, i64 %n
  store double %v.1, ptr %out, align 8
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %head.1
  %index = phi i64 [ 0, %head.1 ], [ %index.next, %vector.body ]
  %p = getelementptr double, ptr %row, i64 %index
  %wide.load = load <4 x double>, ptr %p, align 8
  %mask = fcmp ogt <4 x double> %wide.load, zeroinitializer
  %sum = call <4 x double> @llvm.sqrt.v4f64(<4 x double> %wide.load)
  %q = getelementptr double, ptr %o.data, i64 %index
  store <4 x double> %sum, ptr %q, align 8
  %index.next = add nuw i64 %index, 8
  %end = icmp eq i64 %index.next, 64
  br i1 %end, label %body.2, label %vector.body, !llvm.loop !0

body.2:                                           ; preds = %body.2, %vector.body
  %i = phi i64 [ 64, %vector.body ], [ %i.next, %body.2 ]
  %r = getelementptr double, ptr %row, i64 %i
  %a = load double, ptr %r, align 8
  %i.next = add nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %body.2, label %done, !llvm.loop !3

done:                                             ; preds = %body.2
  br i1 %more, label %head.1, label %exit

exit:                                             ; preds = %done
  ret void
}

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.isvectorized", i32 1}
!2 = !{!"llvm.loop.unroll.runtime.disable"}
!3 = distinct !{!3, !2, !1}
"""


def test_loops_of_ir() -> None:
    assert list(loops(IR, "parloom_")) == [
        Loop("f", "head.1", 1, "scalar", "", 0, (), ("o",), ("exp",)),
        Loop("f", "vector.body", 2, "vector", "4 x double", 8, ("x",), ("o",), ()),
        Loop("f", "body.2", 2, "rest", "", 0, ("x",), (), ()),
    ]


def test_the_summary_reads_well() -> None:
    assert str(loops(IR, "parloom_")) == (
        "f: 1 of 3 loops with vectors\n"
        "  head.1: scalar; writes o; calls exp\n"
        "    vector.body: vectorised 4 x double; 8 elements a turn; reads x; writes o\n"
        "    body.2: what the vectorised loop leaves; reads x"
    )


def test_ir_without_loops() -> None:
    found = loops("define void @parloom_f(ptr %table) {\n  ret void\n}\n", "parloom_")
    assert (len(found), str(found)) == (0, "no loops")


def test_copies_of_a_loop_are_counted() -> None:
    body = IR[IR.index("vector.body:") : IR.index("body.2:")]
    twice = body.replace("vector.body", "vector.body.1").replace("%body.2", "%vector.body")
    text = IR.replace(body, twice + body.replace("%head.1 ]", "%vector.body.1 ]"))
    text = text.replace("br label %vector.body\n", "br label %vector.body.1\n")
    assert [loop.copies for loop in loops(text, "parloom_")] == [1, 2, 1]


@pytest.mark.parametrize("printer", ["llvm", "numba"])
def test_an_elementwise_loop_is_vectors(printer: str) -> None:
    report: Any = pm.jit(lambda x: x * 2.0 + 1.0).on(printer=printer).explain(np.ones(8))
    widest = [loop for loop in report.vectorised() if loop.form == "vector"]
    assert widest
    assert all(loop.lanes.endswith("x double") and loop.step >= 2 for loop in widest)


def test_a_search_in_order_is_scalar() -> None:
    """Each turn needs the one before: no vectors, whatever the processor has."""

    def collatz(x: Any) -> Any:
        def steps(v: Any) -> Any:
            n = 0
            while v > 1:
                v = v // 2 if v % 2 == 0 else 3 * v + 1
                n += 1
            return n

        return x.map(steps)

    report: Any = pm.jit(collatz).explain(np.arange(9))
    assert {loop.form for loop in report.vectorised()} == {"scalar"}
