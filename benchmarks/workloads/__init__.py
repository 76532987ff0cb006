"""One workload a file: its data, and every implementation that is timed on them."""

from __future__ import annotations

from importlib import import_module

from .workload import Implementation, Workload

NAMES = ("kmeans", "logreg", "gda")

__all__ = ["NAMES", "Implementation", "Workload", "load"]


def load(name: str) -> Workload:
    """The workload of that name.

    >>> load("kmeans").title
    'k-means step'
    """
    workload: Workload = import_module(f".{name}", __name__).WORKLOAD
    return workload
