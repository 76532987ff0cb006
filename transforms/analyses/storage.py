"""Which arrays may be written in place: where what begins as an array finds it dead, and its own.

In the pattern IR an `Update` makes a new array, and so does a generator that begins as one
(`start`), a Scatter say. Where nothing reads the old one any more, and no other variable shares its
storage, the new array takes the storage over, and the update is a store: a loop that writes one
element an iteration then costs one store an iteration.

    out: f64[n] = for (i < n; a: f64[n] = zeros) {     `zeros` is read nowhere else: `a` is its
      v: f64 = x[i]                                    storage, `b` that of `a`, `out` that of both
      b: f64[n] = a with [i] = v
      yield b
    }

A use *moves* an array if the array is dead after it. Storage is handed on by moves into an update,
into a loop's first state, from a body into the next state, from a branch into the result of its
`if`. What a parallel loop or an update makes has storage of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from ...patterns.generators import MultiLoop, binder_slices
from ...staging.dataclass import dataclass
from ...staging.nodes import Block, ForLoop, If, Op, Operand, Program, Stmt, Update, Var, While
from ...staging.traversal import blocks, free_vars, operands, result_blocks
from ...staging.types import Array

State = tuple[Op, int]


@dataclass(frozen=True, slots=True)
class Reuse:
    """What may happen in place.

    updates : the updates that are stores
    taken : the binders of loops that begin in the storage of the array that they begin as
    moved : loops, each with the positions of its state that begin in their first value's storage
    copied : those that need storage of their own, for the loop writes to it
    changing : the variables whose storage a store may change while other variables are alive: what
        is read of them must be read where the program reads it
    """

    updates: frozenset[Stmt] = frozenset()
    taken: frozenset[Var] = frozenset()
    moved: frozenset[State] = frozenset()
    copied: frozenset[State] = frozenset()
    changing: frozenset[Var] = frozenset()


NOTHING = Reuse()


def find_reuse(program: Program) -> Reuse:
    """What may happen in place when the program runs as it stands."""
    if not any(_writes(s.op) for s, _ in _walk(program.body, ())):
        return NOTHING
    found = _Storage()
    found.enter(program.body, ())
    found.settle()
    return found.reuse()


@dataclass(frozen=True, slots=True)
class _Level:
    """A statement's place in one block around it; `once`: the block runs once each time that the
    block around it does."""

    block: Block
    position: int
    once: bool


_Path = tuple[_Level, ...]


def _walk(block: Block, path: _Path, once: bool = True) -> Iterator[tuple[Stmt, _Path]]:
    for position, stmt in enumerate(block.stmts):
        here = (*path, _Level(block, position, once))
        yield stmt, here
        for inner in blocks(stmt.op):
            yield from _walk(inner, here, isinstance(stmt.op, If))
    for inner in result_blocks(block):
        yield from _walk(inner, (*path, _Level(block, len(block.stmts), once)), False)


@dataclass(slots=True)
class _Storage:
    """Where each array's storage comes from: `sources` are the variables it may be taken over from,
    each with whether it is moved there."""

    owners: dict[Var, Block] = field(default_factory=dict[Var, Block])
    sources: dict[Var, list[tuple[Var, bool]]] = field(
        default_factory=dict[Var, list[tuple[Var, bool]]]
    )
    own: set[Var] = field(default_factory=set[Var])
    updates: dict[Stmt, bool] = field(default_factory=dict[Stmt, bool])
    starts: dict[Var, Var] = field(default_factory=dict[Var, Var])
    states: dict[State, tuple[Var, Var, Operand, bool]] = field(
        default_factory=dict[State, tuple[Var, Var, Operand, bool]]
    )
    uses: dict[Block, list[dict[Var, None]]] = field(
        default_factory=dict[Block, list[dict[Var, None]]]
    )

    # Facts.

    def enter(self, body: Block, path: _Path) -> None:
        """Records what every statement does with arrays."""
        for stmt, here in _walk(body, path):
            block = here[-1].block
            for var in (*block.params, *stmt.binders):
                self.owners.setdefault(var, block)
            for inner in blocks(stmt.op):
                for var in inner.params:
                    self.owners[var] = inner
            self.statement(stmt, here)

    def statement(self, stmt: Stmt, path: _Path) -> None:
        """Records what one statement does with arrays."""
        op = stmt.op
        if op.makes_arrays:
            self.own.update(_arrays(stmt.binders))
            if isinstance(op, MultiLoop):
                self.loop(stmt, op, path)
        elif isinstance(op, Update):
            self.own.update(stmt.binders)
            self.updates[stmt] = self.moves(op.array, op, path)
        elif isinstance(op, If):
            for k, binder in enumerate(stmt.binders):
                if isinstance(binder.type, Array):
                    sides = (op.then, op.orelse)
                    self.sources[binder] = [self.returned(b, k, path) for b in sides]
        elif isinstance(op, ForLoop | While):
            params = op.body.params[1:] if isinstance(op, ForLoop) else op.body.params
            for k, param in enumerate(params):
                if isinstance(param.type, Array):
                    self.state(op, k, (stmt.binders[k], param), path)

    def loop(self, stmt: Stmt, op: MultiLoop, path: _Path) -> None:
        """Records the arrays that generators begin as, where nothing else reads them."""
        slices = binder_slices(op.generators, op.domain)
        for k, (generator, part) in enumerate(zip(op.generators, slices, strict=True)):
            begin = generator.start
            if not isinstance(begin, Var):
                continue
            others = tuple(g for n, g in enumerate(op.generators) if n != k)
            body = Block(op.body.params, op.body.stmts, others)
            inside = [body, *blocks(generator)]
            read = any(begin in free_vars(block) for block in inside)
            if not read and self.dead(begin, path):
                (binder,) = stmt.binders[part]
                self.starts[binder] = begin

    def state(self, op: ForLoop | While, k: int, names: tuple[Var, Var], path: _Path) -> None:
        """Records one array that a loop carries."""
        binder, param = names
        init = op.init[k]
        self.states[op, k] = (binder, param, init, self.moves(init, op, path))
        self.sources[param] = [self.returned(op.body, k, ())]
        self.sources[binder] = [(param, True)]

    def returned(self, block: Block, k: int, path: _Path) -> tuple[Var, bool]:
        """A block's result, and whether it is moved out: of the block itself, or, from a branch, of
        the blocks around it (`path`, () for a body, which runs again)."""
        result = block.operands[k]
        assert isinstance(result, Var)
        if sum(r is result for r in block.results) > 1:
            return result, False
        inside = result in block.params or any(result in s.binders for s in block.stmts)
        return result, inside or (bool(path) and self.dead(result, path))

    def moves(self, operand: Operand, op: Op, path: _Path) -> bool:
        """Whether an operand of the path's last statement is read for the last time there."""
        assert isinstance(operand, Var)
        again = sum(x is operand for x in operands(op)) > 1
        again = again or any(operand in free_vars(b) for b in blocks(op))
        return not again and self.dead(operand, path)

    def dead(self, var: Var, path: _Path) -> bool:
        """Whether nothing reads the variable after the path's last statement."""
        owner = self.owners.get(var)
        for level in reversed(path):
            later = self.used(level.block)[level.position + 1 :]
            if any(var in used for used in later):
                return False
            if level.block is owner:
                return True
            if not level.once:
                return False
        return False  # a parameter of the program

    def used(self, block: Block) -> list[dict[Var, None]]:
        """The variables that each statement of a block uses, the results' last."""
        if block not in self.uses:
            found = [free_vars(s.op) for s in block.stmts]
            found.append(free_vars(Block((), (), block.results)))
            self.uses[block] = found
        return self.uses[block]

    # Conclusions.

    def settle(self) -> None:
        """Takes all loop state and all results of branches to have storage of their own, until
        nothing speaks against it."""
        self.own.update(self.sources)
        changed = True
        while changed:
            shared = [
                v
                for var, sources in self.sources.items()
                if not all(ok and s in self.own for s, ok in sources)
                for v in (var, *(s for s, ok in sources if not ok))
                if v in self.own
            ]
            self.own.difference_update(shared)
            changed = bool(shared)

    def reuse(self) -> Reuse:
        """The updates in place, and what they need of the loops around them."""
        stores = {s for s, ok in self.updates.items() if ok and _array(s) in self.own}
        moved = {
            key
            for key, (_, param, init, ok) in self.states.items()
            if ok and param in self.own and init in self.own
        }
        taken = {v: begin for v, begin in self.starts.items() if begin in self.own}
        changing = self.changing(
            [*((s.binders[0], _array(s)) for s in stores), *taken.items()], moved
        )
        copied = {
            key
            for key, (_, param, init, _) in self.states.items()
            if key not in moved and (param in changing or init in changing)
        }
        return Reuse(
            frozenset(stores),
            frozenset(taken),
            frozenset(moved),
            frozenset(copied),
            frozenset(changing),
        )

    def changing(self, stores: list[tuple[Var, Var]], moved: set[State]) -> set[Var]:
        """All variables that share storage which a store changes, from one to the other of each
        pair."""
        shares: dict[Var, list[Var]] = {
            v: [s for s, _ in found] for v, found in self.sources.items()
        }
        for new, old in stores:
            shares.setdefault(new, []).append(old)
        for key in moved:
            _, param, init, _ = self.states[key]
            assert isinstance(init, Var)
            shares[param].append(init)
        pending = [v for pair in stores for v in pair]
        found: set[Var] = set()
        back: dict[Var, list[Var]] = {}
        for var, sources in shares.items():
            for source in sources:
                back.setdefault(source, []).append(var)
        while pending:
            var = pending.pop()
            if var not in found:
                found.add(var)
                pending += [*shares.get(var, ()), *back.get(var, ())]
        return found


def _writes(op: Op) -> bool:
    """Whether the op may write in place."""
    if isinstance(op, MultiLoop):
        return any(g.start is not None for g in op.generators)
    return isinstance(op, Update)


def _array(stmt: Stmt) -> Var:
    assert isinstance(stmt.op, Update)
    assert isinstance(stmt.op.array, Var)
    return stmt.op.array


def _arrays(many: Sequence[Var]) -> list[Var]:
    return [v for v in many if isinstance(v.type, Array)]
