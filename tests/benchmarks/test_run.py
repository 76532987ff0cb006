"""The harness on little data; times are printed, never asserted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "benchmarks/run.py", "--small", *arguments],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["kmeans", "elementwise_out", "softmax"])
def test_parloom_and_numpy_agree_and_are_reported(name: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    options = ("--rival", "numpy", "--pairs", "2", "--first-calls", "0", "--json", str(file))
    done = run("--only", name, *options)
    assert done.returncode == 0, done.stderr
    assert "2 pairs" in done.stdout
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["environment"]["threads"] == 2
    assert set(document["environment"]["limits"]["flops"]) == {"float64", "float32"}
    measured = document["workloads"][name]
    assert measured["cost"]["flops"] > 0
    assert measured["roofline_ms"] > 0
    rows = {row["name"]: row for row in measured["rows"]}
    assert list(rows) == ["numpy", "parloom"]
    assert 0 <= rows["parloom"]["error"] <= 1
    ratio = rows["numpy"]["ratio"]
    assert 0 < ratio["low"] <= ratio["value"] <= ratio["high"]
    assert measured["first_calls"] == []


def test_first_calls_are_timed_cold_cached_and_after_numba() -> None:
    done = run("--only", "logreg", "--rival", "numpy", "--pairs", "1", "--first-calls", "1")
    assert done.returncode == 0, done.stderr
    for case in ("cold", "cached", "numba ran"):
        assert case in done.stdout


def test_an_unknown_implementation_is_refused() -> None:
    done = run("--subject", "fortran")
    assert done.returncode == 2
    assert "kmeans has no implementation 'fortran': numpy, numba" in done.stderr


def test_calls_on_little_data_are_timed() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/calls.py", "--repeats", "1"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("a * b + 1", "a.sum()", "three globals", "k-means step"):
        assert name in done.stdout
