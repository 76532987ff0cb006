"""The limits of the machine: rates that are positive, and the text that they are measured by."""

import numpy as np
import pytest

from benchmarks import limits
from benchmarks.workloads.workload import Cost


def test_limits_of_any_number_of_threads() -> None:
    found = limits.measure(threads=2, bytes_=1 << 16, turns=100)
    assert found.bytes > 0
    assert min(found.flops.values()) > 0


@pytest.mark.parametrize(("kind", "dtype"), [("double", np.float64), ("float", np.float32)])
def test_the_loop_multiplies_and_adds(kind: str, dtype: type[np.floating]) -> None:
    engine, function = limits.compiled(kind, limits.vector_bytes() // np.dtype(dtype).itemsize)
    a = 0.0
    for _ in range(5):
        a = a * 0.5 + 0.5
    assert function(5) == limits.ACCUMULATORS * a
    del engine


def test_the_roofline_is_the_slower_of_memory_and_arithmetic() -> None:
    found = limits.Limits(100.0, {"float64": 10.0, "float32": 20.0})
    assert found.seconds(Cost(bytes=1000, flops=10)) == 10.0
    assert found.seconds(Cost(bytes=10, flops=1000)) == 100.0
    assert found.seconds(Cost(bytes=10, flops=1000, dtype="float32")) == 50.0
