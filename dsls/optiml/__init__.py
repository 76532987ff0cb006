"""OptiML: machine learning over vectors and matrices, after the DSL of that name (ICML 2011).

    from parloom.dsls import optiml as ml

Vectors and matrices are NumPy arrays (lists of numbers do too); in a staged function, staged ones.
Every operation has one definition, in the vocabulary of patterns, that serves eager and staged
runs alike.
"""

from .control import until_converged
from .distances import ABS, EUC, SQUARE, Distance, dist, sum_of_squares
from .linear import dot, outer, sigmoid
from .sums import mean, sum, sum_cols, sum_if, sum_rows, sum_rows_if

__all__ = [
    "ABS",
    "EUC",
    "SQUARE",
    "Distance",
    "dist",
    "dot",
    "mean",
    "outer",
    "sigmoid",
    "sum",
    "sum_cols",
    "sum_if",
    "sum_of_squares",
    "sum_rows",
    "sum_rows_if",
    "until_converged",
]
