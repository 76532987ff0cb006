"""A file has a workload, or a few of a kind: data, and every implementation that is timed."""

from __future__ import annotations

from importlib import import_module

from .workload import Implementation, Workload

FILES = ("kmeans", "logreg", "gda", "elementwise", "reductions", "black_scholes", "softmax")

_BY_NAME: dict[str, Workload] = {
    workload.name: workload
    for file in FILES
    for workload in import_module(f".{file}", __name__).WORKLOADS
}
NAMES = tuple(_BY_NAME)

__all__ = ["NAMES", "Implementation", "Workload", "load"]


def load(name: str) -> Workload:
    """The workload of that name.

    >>> load("kmeans").title
    'k-means step'
    """
    return _BY_NAME[name]
