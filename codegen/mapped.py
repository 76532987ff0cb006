"""The program that the passes made: from the disk cache, or by running them.

The passes take longer than all that comes after them where the machine code is on disk, so their
outcome is kept there, too: under the staged program with its lines and names, the options, and our
own source. What they tell (stages, decisions) is made again when somebody asks.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable

from ..staging.dataclass import dataclass
from ..staging.nodes import Program
from ..staging.passes import Milestone, Options, Pass, Pipeline, Result, run
from ..staging.serial import Unserialisable, dumps, loads
from . import cache
from .cache_entry import Unusable

MAKERS = ("patterns", "staging", "transforms")


@dataclass(frozen=True, slots=True)
class Mapped:
    """A program after a target's passes.

    result : the stages and decisions on the way to it; runs the passes if they did not run
    """

    program: Program
    result: Callable[[], Result]


def settings_of(entry: Pass | Milestone) -> tuple[object, ...]:
    """The name of a step, and its module's numbers: whoever tunes or tests it may set them."""
    if isinstance(entry, Milestone):
        return (entry.name,)
    module = vars(sys.modules[entry.function.__module__])
    return (entry.name, *((k, v) for k, v in module.items() if k.isupper() and type(v) is int))


def map_program(program: Program, pipeline: Pipeline, options: Options) -> Mapped:
    """What the pipeline makes of the program.

    Raises what `staging.passes.run` raises; nothing is kept of a program for which it does.
    """
    done: list[Result] = []

    def result() -> Result:
        if not done:
            done.append(run(program, pipeline, options=options))
        return done[0]

    def load(data: bytes) -> Program:
        if done:
            return done[0].program
        try:
            return loads(data)
        except ValueError as error:
            raise Unusable(str(error)) from error

    try:
        staged = dumps(program)
    except Unserialisable:
        return Mapped(result().program, result)
    choices = sorted((name, repr(value)) for name, value in options.choices.items())
    settings = f"{[settings_of(entry) for entry in pipeline]} {choices} {options.limit}"
    key = hashlib.sha256(staged + settings.encode()).hexdigest()
    found = cache.fetch("program", key, lambda: dumps(result().program), load, MAKERS)
    return Mapped(found.value, result)
