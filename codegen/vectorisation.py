"""Which loops of optimised LLVM IR are vectors, and how wide.

Read off the IR's text after all passes: natural loops (a back edge goes to a block that dominates
it), and in each the instructions that are in no inner loop. What is known of a loop of the user's
is therefore what is left of it: a loop that was unrolled altogether, or became a call of memset, is
no longer there, and one that was copied is counted with its copies. llvmlite offers no remarks, so
the reasons why a loop is scalar are not known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from ..staging.dataclass import dataclass

Form = Literal["vector", "rest", "straight", "scalar"]

_FORMS = {
    "vector": "vectorised",
    "rest": "what the vectorised loop leaves",
    "straight": "vector instructions between scalar ones",
    "scalar": "scalar",
}


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that is left in the optimised code.

    function : the kernel's function
    block : the LLVM block at its head; "head.12" is a name of the LLVM text before the passes
    depth : 1 for a loop in no other one
    form : "vector", made by LLVM's loop vectoriser; "rest", the scalar loop for what is left over;
        "straight", vector instructions by another way; "scalar"
    lanes : the vector type that most of its instructions have, "4 x double"; "" if none has one
    step : elements that a turn of a vectorised loop takes; 0 if not known
    reads, writes : the arrays that it loads from and stores to; by the printer "numba", which loses
        their names, the slots of the call's table
    calls : functions that it calls, other than LLVM's own
    copies : how often it is there
    """

    function: str
    block: str
    depth: int
    form: Form
    lanes: str
    step: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    calls: tuple[str, ...]
    copies: int = 1

    def __str__(self) -> str:
        """The loop in one line."""
        what = f"{_FORMS[self.form]} {self.lanes}".rstrip()
        parts = [what, f"{self.step} elements a turn" if self.step else ""]
        for verb, names in (("reads", self.reads), ("writes", self.writes), ("calls", self.calls)):
            parts.append(f"{verb} {', '.join(names)}" if names else "")
        parts.append(f"{self.copies} copies" if self.copies > 1 else "")
        return f"{'  ' * self.depth}{self.block}: {'; '.join(filter(None, parts))}"


@dataclass(frozen=True, slots=True)
class Loops:
    """The loops of a program's machine code; prints as a table."""

    loops: tuple[Loop, ...]

    def __iter__(self) -> Iterator[Loop]:
        return iter(self.loops)

    def __len__(self) -> int:
        return len(self.loops)

    def __str__(self) -> str:
        """A line for each function and for each loop."""
        lines: list[str] = []
        for name in dict.fromkeys(loop.function for loop in self.loops):
            mine = [loop for loop in self.loops if loop.function == name]
            vectors = sum(loop.form in ("vector", "straight") for loop in mine)
            lines.append(f"{name}: {vectors} of {len(mine)} loops with vectors")
            lines += map(str, mine)
        return "\n".join(lines) or "no loops"


@dataclass(slots=True)
class _Block:
    """A basic block: its name, its instructions, the names of its successors."""

    name: str
    lines: list[str]
    next: list[str]


def loops(ir: str, prefix: str) -> Loops:
    """The loops of the optimised IR that have instructions on arrays or floats of their own.

    prefix : what symbols of kernels begin with
    """
    vectorised = _vectorised(ir)
    found: list[Loop] = []
    for match in _FUNCTION.finditer(ir):
        name = match["name"].removeprefix(prefix).removesuffix(".body")
        found += _merged(_loops_of(name, match["body"], vectorised))
    return Loops(tuple(found))


_FUNCTION = re.compile(
    r'^define [^\n]*@"?(?P<name>[^"(\s]+)"?\([^\n]*\{\n(?P<body>.*?)^\}', re.MULTILINE | re.DOTALL
)
_LABEL = re.compile(r'^(?:"([^"]+)"|([\w.$-]+)):')
_SUCCESSOR = re.compile(r'label %(?:"([^"]+)"|([\w.$-]+))')
_COMPUTED = re.compile(
    r'^  %("[^"]+"|[\w.$-]+) = (?:getelementptr [^%\n]*ptr|phi ptr \[) %("[^"]+"|[\w.$-]+)',
    re.MULTILINE,
)
_POINTER = re.compile(r'ptr (?:[a-z]\w* )*%("[^"]+"|[\w.$-]+)')
_VECTOR = re.compile(r"<(\d+ x (?:half|float|double|i(?:8|16|32|64)))>")
_SHUFFLE = re.compile(r"= (?:insertelement|extractelement|shufflevector|phi|bitcast) ")
_FLOAT = re.compile(r"= (?:f(?:add|sub|mul|div|rem|neg|cmp)|fptosi|sitofp|uitofp) ")
_CALL = re.compile(r'call [^@\n]*@"?([\w.$]+)')
_STEP = re.compile(r"= add (?:nuw |nsw )*i64 %(?:vec\.)?index\d*(?:\.\w+)*, (\d+)")


def _vectorised(ir: str) -> set[str]:
    """The loop ids whose metadata say that the loop vectoriser has been there."""
    marks = re.findall(r'^(!\d+) = !\{!"llvm.loop.isvectorized"', ir, re.MULTILINE)
    rows = re.findall(r"^(!\d+) = distinct !\{(.*)\}", ir, re.MULTILINE)
    return {name for name, row in rows if set(re.findall(r"!\d+", row)) & set(marks)}


def _loops_of(function: str, body: str, vectorised: set[str]) -> list[tuple[str, Loop]]:
    """The loops of one function in the order of the text, with their loop ids."""
    blocks = _blocks(body)
    natural = _natural(blocks)
    origins = _origins(body)
    found: list[tuple[str, Loop]] = []
    for head, inside in natural.items():
        inner = {b for h, other in natural.items() if h != head and h in inside for b in other}
        lines = [line for name in inside if name not in inner for line in blocks[name].lines]
        depth = sum(head in other for other in natural.values())
        ids = [m[1] for line in lines if (m := re.search(r"!llvm\.loop (!\d+)", line))]
        loop = _summary(function, head, depth, lines, origins, set(ids) & vectorised)
        if loop is not None:
            found.append((ids[-1] if ids else head, loop))
    return found


def _merged(found: Iterable[tuple[str, Loop]]) -> list[Loop]:
    """Loops with one id and one form are copies of one loop."""
    known: dict[tuple[str, Form, str], Loop] = {}
    for name, loop in found:
        key = (name, loop.form, loop.lanes)
        before = known.get(key)
        known[key] = loop if before is None else replace(before, copies=before.copies + 1)
    return list(known.values())


def _blocks(body: str) -> dict[str, _Block]:
    current = _Block("", [], [])
    blocks = {current.name: current}
    for line in body.splitlines():
        if label := _LABEL.match(line):
            current = _Block(label[1] or label[2], [], [])
            blocks[current.name] = current
        elif line.strip():
            current.lines.append(line)
            current.next += [a or b for a, b in _SUCCESSOR.findall(line)]
    if not blocks[""].lines:  # the entry has a name
        del blocks[""]
    return blocks


def _natural(blocks: Mapping[str, _Block]) -> dict[str, set[str]]:
    """The blocks of each natural loop by its head, in the order of the text."""
    before: dict[str, list[str]] = {name: [] for name in blocks}
    for block in blocks.values():
        for name in block.next:
            before[name].append(block.name)
    dominators = _dominators(blocks, before)
    found: dict[str, set[str]] = {}
    for head in blocks:
        ends = [name for name in before[head] if head in dominators[name]]
        if ends:
            inside = {head}
            while ends:
                name = ends.pop()
                if name not in inside:
                    inside.add(name)
                    ends += before[name]
            found[head] = inside
    return found


def _dominators(
    blocks: Mapping[str, _Block], before: Mapping[str, list[str]]
) -> dict[str, set[str]]:
    """The blocks through which every way from the entry to a block leads."""
    entry = next(iter(blocks))
    found = {name: set(blocks) for name in blocks}
    found[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for name in blocks:
            if name != entry:
                common = set[str].intersection(*(found[b] for b in before[name]), set(blocks))
                common.add(name)
                if common != found[name]:
                    found[name], changed = common, True
    return found


def _origins(body: str) -> dict[str, str]:
    """The pointer that each pointer is computed from."""
    return dict(_COMPUTED.findall(body))


def _array(pointer: str, origins: Mapping[str, str]) -> str:
    """The name of the array that a pointer points into."""
    seen: set[str] = set()
    while pointer in origins and pointer not in seen:
        seen.add(pointer)
        pointer = origins[pointer]
    return pointer.strip('"').removesuffix(".data")


def _summary(
    function: str,
    head: str,
    depth: int,
    lines: list[str],
    origins: Mapping[str, str],
    vectorised: set[str],
) -> Loop | None:
    """What the instructions say; None if there are none on arrays or floats."""
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    lanes: Counter[str] = Counter()
    step = 0
    floats = False
    for line in lines:
        if not _SHUFFLE.search(line):
            lanes.update(_VECTOR.findall(line)[:1])
        floats = floats or bool(_FLOAT.search(line))
        into = reads if " = load " in line else writes if line.startswith("  store ") else None
        if into is not None and (pointer := _POINTER.search(line)):
            into[_array(pointer[1], origins)] = None
        if taken := _STEP.search(line):
            step = max(step, int(taken[1]))
    called = (m[1] for line in lines if (m := _CALL.search(line)))
    calls = tuple(dict.fromkeys(name for name in called if not name.startswith("llvm.")))
    if not (reads or writes or floats or calls):
        return None
    form: Form = "straight" if lanes else "scalar"
    if vectorised:
        form = "vector" if lanes else "rest"
    widest = lanes.most_common(1)[0][0] if lanes else ""
    step = step if form == "vector" else 0
    return Loop(function, head, depth, form, widest, step, tuple(reads), tuple(writes), calls)
