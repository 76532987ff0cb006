"""Reduce a photograph to a few colours by k-means; write it before and after as one PNG.

Without arguments: the china.jpg of scikit-learn, in 16 colours. A picture of yours, in 8 of them:
    python examples/kmeans_image.py holiday.jpg --colours 8
With --explain it prints every stage of the compilation too.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from rich.console import Console

import parloom as pm
from parloom.dsls import optiml as ml

console = Console(highlight=False)
status = console.status("compiling")
moves = []  # the sum of squared moves of the centroids, one an iteration


def on_iteration(iteration, move):
    moves.append(move)
    status.update(f"iteration {iteration}: the colours moved by {256 * move**0.5:.3f}")


def nearest(p, centroids):
    """The index of the centroid that is closest to p; the first of equally close ones."""
    return centroids.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE))


@pm.jit
def kmeans(x, centroids, tol=1e-3, max_iter=100):
    """Lloyd's algorithm. x : [n, d] and centroids : [k, d] -> centroids [k, d]."""

    def step(mu):
        label = x.rows.map(lambda p: nearest(p, mu))

        def mean_of(j):
            total = ml.sum_rows_if(x, label == j)
            count = label.count(lambda l: l == j)
            return total / np.maximum(count, 1)

        return pm.range(mu.shape[0]).map(mean_of)

    return ml.until_converged(
        centroids, step, tol=tol, max_iter=max_iter, on_iteration=on_iteration
    )


@pm.jit
def recolour(x, centroids):
    """Each row of x replaced by its nearest centroid."""
    return x.rows.map(lambda p: centroids[nearest(p, centroids)])


def kmeans_numpy(x, mu, iterations):
    """The same number of iterations in idiomatic NumPy."""
    for _ in range(iterations):
        label = ((mu * mu).sum(axis=1) - 2 * (x @ mu.T)).argmin(axis=1)
        count = np.bincount(label, minlength=len(mu))
        total = [np.bincount(label, weights=column, minlength=len(mu)) for column in x.T]
        mu = np.stack(total, axis=1) / np.maximum(count, 1)[:, None]
    return mu


class BadInput(Exception):
    """What the user asked for cannot be done; the message says why."""


def read_picture(path):
    """The picture as [height, width, 3] bytes; without a path the one of scikit-learn."""
    if path is None:
        from sklearn.datasets import load_sample_image

        return np.asarray(load_sample_image("china.jpg"))
    with Image.open(path) as image:
        return np.asarray(ImageOps.exif_transpose(image).convert("RGBA").convert("RGB"))


def initial_centroids(picture, k, seed):
    """k distinct colours of the picture, chosen by the seed: [k, 3] in 0..1."""
    red, green, blue = picture.reshape(-1, 3).astype(np.int64).T
    colours = np.unique(red << 16 | green << 8 | blue)
    if not 1 <= k <= len(colours):
        raise BadInput(f"--colours must be from 1 to {len(colours)} for this picture, not {k}")
    chosen = np.random.default_rng(seed).choice(colours, k, replace=False)
    return np.stack([chosen >> 16, chosen >> 8 & 255, chosen & 255], axis=1) / 256


def timed(f, *args):
    """The result of a call, and its seconds."""
    start = time.perf_counter()
    result = f(*args)
    return result, time.perf_counter() - start


def reduce_colours(options):
    """Do what the command line asks for."""
    picture = read_picture(options.image)
    # Bytes over 256 are exact in binary, so equally near first centroids tie in any arithmetic.
    x = picture.reshape(-1, 3) / 256
    mu = initial_centroids(picture, options.colours, options.seed)
    args = (x, mu, options.tol, options.max_iter)
    if options.explain:
        print(kmeans.explain(*args))
    console.print(f"{picture.shape[1]} x {picture.shape[0]} pixels, {options.colours} colours")
    moves.clear()
    with status:
        centroids, first = timed(kmeans, *args)
    iterations = len(moves)
    _, again = timed(kmeans, *args)
    console.print(f"parloom: {iterations} iterations in {again:.3f} s (first call {first:.3f} s)")
    if not options.no_compare:
        expected, seconds = timed(kmeans_numpy, x, mu, iterations)
        console.print(f"NumPy:   {iterations} iterations in {seconds:.3f} s")
        np.testing.assert_allclose(centroids, expected, rtol=0, atol=1e-9)
        console.print(f"parloom is {seconds / again:.1f} times faster, with the same centroids")
    after = np.rint(256 * recolour(x, centroids)).clip(0, 255).astype(np.uint8)
    both = np.hstack([picture, after.reshape(picture.shape)])
    Image.fromarray(both).save(options.output, format="PNG")
    console.print(f"wrote {options.output}: before, and after")
    if not options.explain:
        report = kmeans.explain(*args)
        written, fused = (report.ir(stage).count("< x_0)") for stage in ("staged", "fused"))
        console.print(f"loops over the pixels: {written} as written, {fused} as compiled")
        console.print("--explain shows the programs, the decisions and the kernels")


def main(argv=None):
    """Run the demo; the exit code, 2 for unusable input."""
    parser = argparse.ArgumentParser(description="Reduce the colours of a picture with k-means.")
    option = parser.add_argument
    option("image", nargs="?", type=Path, help="a picture (scikit-learn's china.jpg)")
    option("-k", "--colours", type=int, default=16, help="how many (16)")
    option("--seed", type=int, default=0, help="chooses the first centroids (0)")
    option("--tol", type=float, default=1e-6, help="least sum of squared moves (1e-6)")
    option("--max-iter", type=int, default=100, help="iterations at most (100)")
    option("--output", type=Path, default=Path("kmeans_colours.png"), help="(kmeans_colours.png)")
    option("--explain", action="store_true", help="print every stage of the compilation")
    option("--no-compare", action="store_true", help="do not run NumPy too")
    try:
        reduce_colours(parser.parse_args(argv))
    except (BadInput, OSError) as error:  # OSError: what cannot be read, recognised or written
        print(f"kmeans_image: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
