"""Long runs: python -m tests.fuzz [--count N] [--seed S] [--shrink] [--all-ways]"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from tests.fuzz.cases import random_case
from tests.fuzz.check import arguments_of, as_test, check, shrunk, way_named, ways_of
from tests.fuzz.ways import Tally


def main() -> int:
    """Runs the seeds; prints each disagreement, made small, and how much was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=100, help="number of seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--all-ways", action="store_true", help="each pass off in turn, and Numba")
    parser.add_argument("--no-shrink", action="store_true", help="as they were made")
    parser.add_argument("--kind", default="", help="only what fails in this way")
    options = parser.parse_args()
    tally, failed, start = Tally(), 0, time.perf_counter()
    for seed in range(options.seed, options.seed + options.count):
        case = random_case(seed)
        ways = ways_of(case, options.all_ways)
        runs = list(arguments_of(case))
        failures = [f for f in check(case, tally, ways, runs) if options.kind in f.kind]
        if not failures:
            continue
        failed += 1
        failure = failures[0]
        print(f"--- seed {seed}: {', '.join(f'{f.way}: {f.kind}' for f in failures)}")
        print(failure.message.splitlines()[0] if options.no_shrink else failure.message)
        if options.no_shrink:
            print(case.function.source(), flush=True)
            continue
        smaller, arguments = shrunk(case, failure, way_named(failure.way))
        print(as_test(smaller, arguments, failure), flush=True)
    seconds = time.perf_counter() - start
    print(f"{options.count} functions, {tally.runs} runs in {seconds:.0f} s: {failed} failed")
    print(f"refused {share(tally.refused, tally.runs)}, raised {share(tally.raised, tally.runs)},")
    print(f"with rounding that is free {share(tally.free, tally.runs)}")
    for text, count in Counter(tally.refusals).most_common(25):
        print(f"{count:6} {text[:140]}")
    return 1 if failed else 0


def share(part: int, whole: int) -> str:
    """A part in per cent."""
    return f"{100 * part / max(whole, 1):.0f} %"


if __name__ == "__main__":
    raise SystemExit(main())
