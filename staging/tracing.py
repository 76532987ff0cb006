"""From a Python function and example arguments to a Program: run it once on Reps, and keep what was
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, cast

import numpy as np

from .annotations import Spec
from .arguments import Binder, Leaf, leaves_of
from .arithmetic import Arithmetic
from .assumptions import NOTHING_YET, Assumed, Leaving, Plan, places_of
from .builder import Builder
from .builtin_calls import callee
from .context import Captured, enter
from .dataclass import dataclass
from .errors import ShapeError, StagingTypeError, UserError
from .guards import Guard, RecordingTrace, reach
from .inout import open_to_writes, written
from .iteration import StagedSequence
from .layouts import is_number_list
from .locations import Location
from .nodes import Block, Operand, Program, SizeCheck, Stmt, Var, operand_dim, size_operand
from .outputs import Expected, expected_result, expected_value, sizes_of
from .pytree import LEAF, Part, Tree, assembler, flatten, unflatten
from .replay import Replay
from .reps import Rep, lift, rep_of
from .scalars import PythonBool, is_python
from .state import is_dynamic
from .tracebacks import repeated
from .types import Array


@dataclass(frozen=True, slots=True)
class Traced:
    """A staged function.

    program : its parameters are the arguments' leaves in order, then the captured arrays
    out_tree, out_leaves : the structure of the result; each leaf is `RESULT` or a static value
    captured : gives the captured arrays as they are now
    guards : what must still hold at a later call
    weak : which of the program's results are Python's numbers and bools
    written : which of the arrays to be written to (inout.py) the program writes to: what they
        hold in the end stands behind the results
    assumed : what must hold beside the guards, and what the version reports (assumptions.py): the
        values of `assumed.observed` are the program's last results
    """

    program: Program
    out_tree: Tree
    out_leaves: tuple[object, ...]
    captured: tuple[Callable[[], np.ndarray], ...]
    guards: tuple[Guard, ...]
    weak: tuple[bool, ...]
    written: tuple[int, ...]
    assumed: Assumed

    def holds(self) -> bool:
        """Whether everything taken from the surroundings is still as it was."""
        return all(guard.holds() for guard in self.guards)

    def result(self) -> Part:
        """The function that makes the user's result from the program's results."""
        places = iter(enumerate(self.weak))
        parts = [
            _picked(*next(places)) if leaf is RESULT else _always(leaf) for leaf in self.out_leaves
        ]
        return assembler(self.out_tree, iter(parts))

    def expected(self, arguments: Sequence[Any]) -> list[Expected | None]:
        """What is known of each leaf of the result before the program runs; None where it is no
        number."""
        sizes = sizes_of(self.program, arguments)
        supply = (expected_result(r.type, sizes) for r in self.program.body.operands)
        return [next(supply) if x is RESULT else expected_value(x) for x in self.out_leaves]


def _picked(place: int, weak: bool) -> Part:
    return (lambda values: values[place].item()) if weak else itemgetter(place)


def _always(leaf: object) -> Part:
    return lambda values: leaf


class _Result:
    def __repr__(self) -> str:
        return "RESULT"


RESULT = _Result()


def trace_function(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    static_names: Sequence[str] = (),
) -> Traced:
    """Stages `function` for arguments like these.

    Raises UserError and Limitation, with the user's lines, for what cannot be staged.

    >>> traced = trace_function(lambda x, y: (x + y, None), (1.0, np.float32(2)))
    >>> [str(p.type) for p in traced.program.params], traced.out_leaves
    (['f64~', 'f32'], (RESULT, None))
    """
    binder = Binder(function, static_names)
    return trace_values(function, binder, binder.bind(args, kwargs or {}))


def trace_values(
    function: Callable[..., Any], binder: Binder, values: Sequence[Any], plan: Plan = NOTHING_YET
) -> Traced:
    """Stages `function` for one value a parameter."""
    recording = RecordingTrace(assumed=Assumed(plan))
    leave = enter(recording)
    try:
        staged, params, marked = _parameters(recording, binder, values)
        result = binder.call(callee(function), staged)
        leaves, tree = flatten(result)
        for leaf in leaves:
            _check_result(leaf)
        operands = _operands(recording, leaves, _definition(function))
        places, ends = written(marked, _definition(function))
        operands += [*ends, *recording.assumed.observed.values()]
        recording.check_unchanged()
        body = recording.builder.close(operands)
    except Leaving as left:
        left.guards, left.fixed = tuple(recording.guards.values()), tuple(recording.assumed.fixed)
        raise
    except RecursionError as error:
        raise UserError(
            "the function calls itself without end while it is staged",
            where=repeated(error),
            why="a staged condition does not stop a recursion: both branches are recorded",
            instead="a while loop",
        ) from error
    finally:
        leave()
    return Traced(
        _program(recording, getattr(function, "__name__", "staged"), params, body),
        tree,
        tuple(RESULT if _is_result(leaf) else leaf for leaf in leaves),
        tuple(captured.read for captured in recording.captured.values()),
        tuple(recording.guards.values()),
        tuple(is_python(lift(leaf)) for leaf in leaves if _is_result(leaf)),
        places,
        recording.assumed,
    )


def _operands(
    recording: RecordingTrace, leaves: Sequence[object], where: Location | None
) -> list[Operand]:
    """The results; UserError for one that leaked into the function: at `where`, for the line that
    put it into the result is not known.
    """
    found = [lift(leaf) for leaf in leaves if _is_result(leaf)]
    arrays_and_numbers = [rep for rep in found if isinstance(rep, Arithmetic)]
    recording.check_visible(*(rep.storage for rep in arrays_and_numbers), where=where)
    operands = [rep.operand for rep in found]
    recording.check_visible(*operands, where=where)
    return operands


def _definition(function: object) -> Location | None:
    """Where the function begins, None for one that is not written in Python."""
    code = getattr(function, "__code__", None)
    return code and Location(code.co_filename, code.co_firstlineno, function=code.co_name)


def _check_result(leaf: object) -> None:
    if isinstance(leaf, Iterator | StagedSequence):
        raise StagingTypeError(
            f"the function returns a {type(cast(object, leaf)).__name__}",
            why="what it would give is computed after the function was staged",
            instead="a list, a tuple or an array",
        )


def _is_result(leaf: object) -> bool:
    return isinstance(leaf, Rep) or (is_dynamic(leaf) and not is_number_list(leaf))


def _parameters(
    recording: RecordingTrace, binder: Binder, values: Sequence[Any]
) -> tuple[list[Any], list[Var], list[tuple[Rep, Var]]]:
    """The staged values, one a parameter, the program's parameters, and the arrays that may be
    written to; opens the block.
    """
    trees: list[tuple[Tree, list[tuple[Leaf, Var | None]]]] = []
    params: list[Var] = []
    for k, (name, value) in enumerate(zip(binder.names, values, strict=True)):
        if k in binder.static:
            leaves, tree = [Leaf(name, value, None)], LEAF
        else:
            leaves, tree = leaves_of(value, name)
        made = [(leaf, _parameter(recording, leaf)) for leaf in leaves]
        params += [param for _, param in made if param is not None]
        trees.append((tree, made))
    known = [leaf.value for _, made in trees for leaf, param in made if param is not None]
    recording.assumed.places = places_of(params, known)
    recording.builder.open((*recording.sizes, *params))
    for k, spec in binder.declared.specs.items():
        for _, param in trees[k][1]:
            _share(recording, spec, param, binder.declared.where)
    leaves_of_all = [[_staged(*m) for m in made] for _, made in trees]
    marked = [
        (rep, param)
        for k in sorted(binder.inout)
        for rep, (_, param) in zip(leaves_of_all[k], trees[k][1], strict=True)
        if isinstance(rep, Rep) and param is not None and isinstance(param.type, Array)
    ]
    for rep, param in marked:
        open_to_writes(rep, param)
    staged = [unflatten(tree, found) for (tree, _), found in zip(trees, leaves_of_all, strict=True)]
    return staged, params, marked


def _share(
    recording: RecordingTrace, spec: Spec, param: Var | None, where: Location | None
) -> None:
    """Makes the sizes one that the parameters' types declare to be; the call has compared them."""
    if param is None or not isinstance(param.type, Array):
        return
    sizes = recording.declared
    for axis, dim in spec.axes(param.type.rank):
        size = size_operand(param.type.shape[axis])
        known = sizes.setdefault(dim, size) if isinstance(dim, str) else size_operand(dim)
        recording.unify(known, size, where=where)


def _parameter(recording: RecordingTrace, leaf: Leaf) -> Var | None:
    if leaf.type is None:
        reach(leaf.value)
        return None
    array = leaf.value if isinstance(leaf.type, Array) else None
    return recording.new_param(leaf.type, leaf.name, array)


def _staged(leaf: Leaf, param: Var | None) -> object:
    if param is None:
        return leaf.value
    return PythonBool(param) if leaf.truth else rep_of(param)


# The program: sizes that were found equal become one.


class _Unify(Replay):
    """Replaces sizes by what they were found equal to, so that everything is shared again."""

    def __init__(self, builder: Builder, recording: RecordingTrace) -> None:
        super().__init__(builder)
        self.recording = recording

    def bind(self, stmt: Stmt, operands: Sequence[Operand]) -> None:
        super().bind(stmt, operands)
        for binder in stmt.binders:
            if binder in self.recording.merged:
                self.env[binder] = self.operand(self.recording.canonical(binder))


def _program(recording: RecordingTrace, name: str, params: Sequence[Var], body: Block) -> Program:
    captured: list[Captured] = list(recording.captured.values())
    old = (*params, *(c.param for c in captured))
    if not recording.merged:
        return Program(name, tuple(recording.sizes), old, Block((), body.stmts, body.results), ())
    builder = Builder()
    replay = _Unify(builder, recording)
    sizes = replay.fresh([s for s in recording.sizes if s not in recording.merged])
    for size in recording.sizes:
        if size in recording.merged:
            replay.env[size] = replay.operand(recording.canonical(size))
    new = replay.fresh(old)
    builder.open((*sizes, *new))
    replay.run(body)
    made = builder.close(replay.results(body))
    checks = tuple(_checks(recording, old))
    return Program(name, sizes, new, Block((), made.stmts, made.results), checks)


def _checks(recording: RecordingTrace, params: Sequence[Var]) -> list[SizeCheck]:
    axes: dict[Operand, tuple[int, int]] = {}
    for position, param in enumerate(params):
        for axis, dim in enumerate(param.type.shape if isinstance(param.type, Array) else ()):
            if isinstance(dim, Var):
                axes.setdefault(dim, (position, axis))

    def place(size: Operand) -> tuple[int, int] | int:
        known = operand_dim(size)
        return axes[size] if isinstance(known, Var) else known

    return [SizeCheck(place(kept), axes[dropped], at) for dropped, kept, at in recording.meetings]


def check_sizes(program: Program, arguments: Sequence[Any]) -> None:
    """ShapeError, with the user's line, where sizes differ that meet in the program."""
    for check in program.checks:
        position, axis = check.dropped
        found = arguments[position].shape[axis]
        kept = check.kept
        expected = kept if isinstance(kept, int) else arguments[kept[0]].shape[kept[1]]
        if found != expected:
            raise _sizes_differ(program, check.source, (position, axis), found, kept, expected)


def _sizes_differ(
    program: Program,
    source: Location,
    dropped: tuple[int, int],
    found: int,
    kept: tuple[int, int] | int,
    expected: int,
) -> ShapeError:
    def axis_of(place: tuple[int, int], size: int) -> str:
        return f"axis {place[1]} of {program.params[place[0]].name} has size {size}"

    other = f"size {expected}" if isinstance(kept, int) else axis_of(kept, expected)
    return ShapeError(
        f"sizes do not fit together: {other}, {axis_of(dropped, found)}",
        where=source,
        why="they meet there, element by element",
    )
