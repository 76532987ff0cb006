"""Every implementation of every workload computes the same, at sizes that no block divides."""

import numba.core.config
import pytest

from benchmarks.workloads import NAMES, load
from benchmarks.workloads.workload import results

SIZES = {
    "kmeans": {"n": 2_207, "d": 7, "k": 5},
    "logreg": {"n": 1_189, "d": 3},
    "gda": {"n": 1_189, "d": 3},
    "softmax": {"n": 33, "d": 37},
}


@pytest.mark.parametrize("name", NAMES)
def test_implementations_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The loops are what is tested, and they take seconds to compile.
    monkeypatch.setattr(numba.core.config, "DISABLE_JIT", 1)
    workload = load(name)
    args = workload.data(**SIZES.get(name, {"n": 1_189}))
    found = {i.name: results(i.make()(*args)) for i in workload.implementations}
    expected = found.pop(workload.implementations[0].name)
    errors = {impl: workload.worst(result, expected, args) for impl, result in found.items()}
    assert all(error <= 1 for error in errors.values()), errors


def test_an_error_is_measured_as_a_part_of_its_bound() -> None:
    workload = load("logreg")
    args = workload.data(**workload.sizes["small"])
    expected = results(workload.implementations[0].make()(*args))
    assert workload.worst(expected, expected, args) == 0
    assert workload.worst((expected[0] * (1 + 1e-6),), expected, args) > 1
    assert workload.worst((expected[0][:-1],), expected, args) == float("inf")
    assert workload.worst((expected[0] * float("nan"),), expected, args) == float("inf")
