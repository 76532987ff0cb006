"""The passes of every kind of target, as literal lists in the order in which they run."""

from __future__ import annotations

from ..staging.passes import Milestone, Pass, Pipeline
from .cpu_levels import cpu_levels
from .eliminate_dead_code import eliminate_dead_code
from .fuse_horizontal import fuse_horizontal
from .fuse_vertical import fuse_vertical
from .interchange_reduce import interchange_reduce
from .recompute_elements import recompute_elements
from .reduce_conditionally import reduce_conditionally
from .simplify import simplify
from .split_reduction import split_reduction

SIMPLIFY = Pass("simplify", simplify, "algebra, sharing, invariants out of loops, dead code away")
CLEAN = Pass("eliminate_dead_code", eliminate_dead_code, "what nothing needs disappears", True)
RECOMPUTE = Pass("recompute_elements", recompute_elements, "cheap arrays are not stored")
VERTICAL = Pass("fuse_vertical", fuse_vertical, "a producer joins its consumer")
HORIZONTAL = Pass("fuse_horizontal", fuse_horizontal, "independent loops over one domain join")
CONDITIONALLY = Pass("reduce_conditionally", reduce_conditionally, "one pass for all keys")
INTERCHANGE = Pass("interchange_reduce", interchange_reduce, "columns are reduced row by row")

# Loops become one: first what is cheap to compute twice (the arrays are then dead), then
# producers into consumers, then the rest. Horizontal comes last: merged loops could no longer
# follow a producer of which only one of them is a consumer.
FUSION: Pipeline = (RECOMPUTE, CLEAN, VERTICAL, HORIZONTAL, CLEAN)

FUSED: Pipeline = (
    Milestone("staged"),
    # Rules match canonical, shared, invariant-free code only.
    SIMPLIFY,
    # Inside of loops a mask joins the reductions under it, so that the next two see the key in the
    # condition, and a filter of rows is a condition.
    *FUSION,
    # Keys before columns: what is left over, under no key, may still be interchanged.
    CONDITIONALLY,
    INTERCHANGE,
    # The hoisted loops have become neighbours of what they read, and of each other.
    SIMPLIFY,
    *FUSION,
    # An interchange may have freed a filter, or a filter a key: once more.
    CONDITIONALLY,
    INTERCHANGE,
    SIMPLIFY,
    *FUSION,
    SIMPLIFY,
    Milestone("fused"),
)

SPLIT = Pass("split_reduction", split_reduction, "reductions over several axes, axis by axis")
LEVELS = Pass("cpu_levels", cpu_levels, "chunks for all cores, lanes, the order of float sums")

# Splitting gives the levels their nests; fusion sees the reduction whole.
CPU: Pipeline = (*FUSED, SPLIT, LEVELS, Milestone("mapped"))
