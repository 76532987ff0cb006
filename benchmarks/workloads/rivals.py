"""Rivals that several workloads have: JAX, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .workload import Function, Implementation


def jax(function: Callable[..., Callable[..., Any]]) -> tuple[Implementation, ...]:
    """The implementation in JAX, or none.

    function : given `jax.numpy`, what is compiled
    """
    if find_spec("jax") is None:
        return ()

    def make() -> Function:
        library = import_module("jax")
        library.config.update("jax_enable_x64", True)
        compiled = library.jit(function(import_module("jax.numpy")))
        on_device: dict[tuple[int, ...], Any] = {}

        def call(*args: Any) -> Any:
            key = tuple(map(id, args))
            if key not in on_device:  # JAX's users keep their data in its arrays
                on_device[key] = library.device_put(args)
            return library.block_until_ready(compiled(*on_device[key]))

        return call

    return (Implementation("jax", make, "compiled by XLA, on all processors", ("jax",)),)


def parloom(function: Callable[..., Any]) -> Implementation:
    """The function as users of NumPy write it, compiled by parloom."""

    def make() -> Function:
        import parloom as pm

        jitted: Function = pm.jit(function)
        return jitted

    return Implementation("parloom", make, "the same function", ("parloom",))
