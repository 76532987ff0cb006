"""The engine of the Numba printer: a text means the same as plain Python and as machine code."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parloom.codegen import objects
from parloom.codegen.native import ArrayParam, Layout, ScalarParam, Signature
from parloom.codegen.numba import engine
from parloom.codegen.numba.intrinsics import fma

INT = ScalarParam(np.dtype(np.int64))


def array(ndim: int, dtype: object = float, layout: Layout = "C") -> ArrayParam:
    return ArrayParam(np.dtype(dtype), ndim, layout)  # type: ignore[call-overload]


def compiled(text: str, signatures: dict[str, Signature]) -> objects.ObjectCode:
    return objects.emit(engine.module(text, signatures), tuple(signatures))


def both(text: str, signature: Signature, *args: Any) -> list[Any]:
    """Run `f` of the text both ways; the arguments after the call, equal bit for bit."""
    native, python = ([copy(a) for a in args] for _ in range(2))
    objects.load(compiled(text, {"f": signature}), {"f": signature})["f"](*native)
    engine.plain(text)["f"](*python)
    for left, right in zip(native, python, strict=True):
        assert np.asarray(left).tobytes() == np.asarray(right).tobytes()
    return native


KMEANS = """
import numpy as np


def distance(x, mu, i, j):
    total = 0.0
    for t in range(x.shape[1]):
        q = x[i, t] - mu[j, t]
        total += q * q
    return total


def f(start, stop, x, mu, sums, counts):
    for i in range(start, stop):
        best = np.inf
        label = 0
        for j in range(mu.shape[0]):
            d = distance(x, mu, i, j)
            if d < best:
                best = d
                label = j
        for t in range(x.shape[1]):
            sums[label, t] += x[i, t]
        counts[label] += 1
"""


@pytest.mark.parametrize("layout", ["C", "A"])
def test_kmeans_with_a_helper(layout: Layout) -> None:
    x = np.random.default_rng(0).random((50, 4))
    matrix = array(2, layout=layout)
    signature = (INT, INT, matrix, matrix, array(2), array(1, np.int64))
    result = both(KMEANS, signature, 3, 50, x, x[:5], np.zeros((5, 4)), np.zeros(5, np.int64))
    assert result[-1].sum() == 47


def test_any_strides_and_read_only_inputs() -> None:
    text = "def f(a, o):\n    for i in range(o.shape[0]):\n        o[i] = a[i, 1] * 2.0\n"
    base = np.arange(24.0).reshape(4, 6)
    base.flags.writeable = False
    signature = (array(2, layout="A"), array(1, layout="A"))
    for view in (base[::-1, ::2], base.T, np.broadcast_to(base[0], (3, 6))):
        out = np.zeros(view.shape[0])
        objects.load(compiled(text, {"f": signature}), {"f": signature})["f"](view, out)
        np.testing.assert_array_equal(out, view[:, 1] * 2)


def test_arrays_of_rank_zero_and_no_elements() -> None:
    text = "def f(x, s):\n    for i in range(x.size):\n        s[()] += x[i, 0]\n"
    signature = (array(2), array(0))
    both(text, signature, np.zeros((0, 3)), np.array(0.0))
    both(text, signature, np.ones((3, 1)), np.array(0.0))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("bool", True),
        ("int8", -3),
        ("uint8", 200),
        ("int32", -5),
        ("uint64", 2**63 + 1),
        ("float32", 0.1),
        ("float64", -0.0),
        ("complex64", 1 - 2j),
        ("complex128", 1 - 2j),
    ],
)
def test_every_type_of_scalar_and_element(dtype: str, value: object) -> None:
    text = "def f(v, o, b):\n    o[0] = v\n    b[0] = v == o[0]\n"
    typed = np.dtype(dtype).type(value)
    signature = (ScalarParam(np.dtype(dtype)), array(1, dtype), array(1, np.bool_))
    result = both(text, signature, typed, np.zeros(1, dtype), np.zeros(1, np.bool_))
    assert result[1][0] == typed
    assert result[2][0]


def test_several_threads_may_compile() -> None:
    def run(factor: int) -> float:
        text = f"def f(x):\n    for i in range(x.size):\n        x[i] *= {factor}.0\n"
        signature = (array(1),)
        x = np.ones(100)
        objects.load(compiled(text, {"f": signature}), {"f": signature})["f"](x)
        return float(x.sum())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(8))) == [100.0 * factor for factor in range(8)]


def test_mathematical_functions_come_from_libm() -> None:
    text = "import numpy as np\n\n\ndef f(x):\n    x[0] = np.exp(x[0]) + np.hypot(x[0], 2.0)\n"
    both(text, (array(1),), np.array([0.7]))


def test_a_fused_multiply_add_rounds_once() -> None:
    text = (
        "from parloom.codegen.numba.intrinsics import fma\n\n\n"
        "def f(x):\n    x[3] = fma(x[0], x[1], x[2])\n"
    )
    for dtype in (np.float64, np.float32):
        x = np.array([0.1, 10.0, -1.0, 0.0], dtype)
        assert both(text, (array(1, dtype),), x)[0][3] != 0
    assert fma(np.float64(1e308), np.float64(10), np.float64(1)) == np.inf


def test_nothing_is_fused_or_reassociated_unasked() -> None:
    text = (
        "def f(x, o):\n    s = 0.0\n    for i in range(x.shape[0]):\n"
        "        s += x[i] * x[i]\n        o[i] = x[i] * x[i] + x[i]\n    o[0] = s\n"
    )
    x = np.random.default_rng(1).random(1000)
    both(text, (array(1), array(1)), x, np.zeros(1000))


def packed(text: str, signature: Signature) -> set[str]:
    code = objects.assembly(engine.module(text, {"f": signature}))
    return set(re.findall(r"\bv?(?:add|mul|sub)pd\b|\bf(?:add|mul|sub)\tv\d+\.2d", code))


AXPY = """
def f(start, stop, a, b, o):
    for i in range(start, stop):
        o[i] = a[i] * b[i] + a[i]
"""

LANES = """
def f(x, mu, total):
    for j in range(mu.shape[0]):
        for t in range(mu.shape[1]):
            for r in range(64):
                q = x[t, r] - mu[j, t]
                total[r] += q * q
"""


@pytest.mark.parametrize(
    ("text", "signature"),
    [(AXPY, (INT, INT, array(1), array(1), array(1))), (LANES, (array(2), array(2), array(1)))],
)
def test_inner_loops_are_vectorised(text: str, signature: Signature) -> None:
    assert packed(text, signature)


def test_arrays_that_may_overlap_are_treated_so() -> None:
    text = "def f(a, o):\n    for i in range(8):\n        o[i] = a[i] + 1.0\n"
    overlapping = replace(array(1), may_alias=True)
    signature = (overlapping, overlapping)
    function = objects.load(compiled(text, {"f": signature}), {"f": signature})["f"]
    x = np.zeros(9)
    function(x[:8], x[1:])
    np.testing.assert_array_equal(x, np.arange(9.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x):\n    raise ValueError\n", "a kernel may not have Raise: raise ValueError"),
        ("def f(x):\n    x[-1] = 0.0\n", "a kernel may not have Subscript: x[-1]"),
        ("def f(x):\n    x[:] = 0.0\n", "a kernel may not have Slice: :"),
        ("def g(x):\n    pass\n", "the text defines no function f"),
        ("def f(x):\n    return x[0]\n", "kernel f returns float64"),
    ],
)
def test_what_kernels_may_not_have(text: str, message: str) -> None:
    with pytest.raises(engine.KernelTextError) as caught:
        compiled(text, {"f": (array(1),)})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x):\n    x[0] = unknown\n", "name 'unknown' is not defined"),
        ("def f(x):\n    x[0] = g(x)\n\ndef g(x):\n    return g(x)\n", "calls itself"),
    ],
)
def test_what_is_not_typed(text: str, message: str) -> None:
    with pytest.raises(engine.KernelTextError, match=message):
        compiled(text, {"f": (array(1),)})


def test_an_allocation_is_refused() -> None:
    text = (
        "import numpy as np\n\n\ndef f(x):\n    y = np.zeros(3)\n    y[0] = x[0]\n    x[0] = y[0]\n"
    )
    with pytest.raises((engine.KernelTextError, objects.UnresolvedSymbol)):
        compiled(text, {"f": (array(1),)})
