"""The pages: links lead somewhere, excerpts are what parloom prints, no name is missing."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.dsls import optiml as ml

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))


def text_of(page: str) -> str:
    """The page's text."""
    return (ROOT / page).read_text(encoding="utf-8")


def prose_of(page: str) -> str:
    """The page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


def anchors_of(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", prose_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), f"{page} links to {target}"
        if anchor:
            name = str(found.resolve().relative_to(ROOT))
            assert anchor in anchors_of(name), f"{page}: no heading for {target}"


def test_every_name_of_optiml_is_explained() -> None:
    page = text_of("docs/optiml.md")
    missing = [name for name in ml.__all__ if f"ml.{name}" not in page]
    assert missing == []


# The excerpts of ARCHITECTURE.md.


@pm.jit
def kmeans(x: Any, centroids: Any, tol: Any = 1e-3, max_iter: Any = 100) -> Any:
    """The running example, as the page has it."""

    def step(mu: Any) -> Any:
        # fmt: off
        label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE)))
        # fmt: on

        def mean_of(j: Any) -> Any:
            total = ml.sum_rows_if(x, label == j)
            count = label.count(lambda l: l == j)
            return total / np.maximum(count, 1)

        return pm.range(mu.shape[0]).map(mean_of)

    return ml.until_converged(centroids, step, tol=tol, max_iter=max_iter)


@pytest.fixture(scope="module")
def printed() -> Mapping[str, str]:
    """What parloom prints at each stage."""
    x = np.random.default_rng(0).normal(size=(100, 3))
    report = kmeans.explain(x, x[:4])
    return {
        "staged": report.ir("staged"),
        "fused": report.ir("fused"),
        "mapped": report.ir("mapped"),
        "decisions": "\n".join(map(str, report.decisions)),
        "kernel": report.source("python"),
        "host": report.source("host"),
    }


EXCERPTS = re.findall(
    r"^<!-- (\w+) -->\n```\n(.*?)^```", text_of("ARCHITECTURE.md"), flags=re.MULTILINE | re.DOTALL
)


def comparable(line: str) -> str:
    """The line without its indent, and with all unnamed variables alike."""
    return re.sub(r"\b(t|acc)_?\d+\b", r"\1", line.strip())


@pytest.mark.parametrize(("stage", "excerpt"), EXCERPTS, ids=[stage for stage, _ in EXCERPTS])
def test_excerpt_is_what_is_printed(stage: str, excerpt: str, printed: Mapping[str, str]) -> None:
    """Its lines stand there in this order; `...` stands for any lines, the end of one is free."""
    lines = [comparable(line) for line in printed[stage].splitlines()]
    place = 0
    for line in filter(None, map(comparable, excerpt.splitlines())):
        if line == "...":
            continue
        while place < len(lines) and not lines[place].startswith(line):
            place += 1
        assert place < len(lines), f"{stage}: no such line (any more): {line}"
        place += 1


def test_every_stage_has_an_excerpt(printed: Mapping[str, str]) -> None:
    assert {stage for stage, _ in EXCERPTS} == set(printed)
