"""The sequential part: its text, what it does in order, what it raises, what the results own."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.cpu import code
from parloom.codegen.cpu.target import launchers
from parloom.codegen.host_text import print_host
from parloom.codegen.ownership import shared_results
from parloom.staging.errors import CheckFailed, ShapeError, StagedIndexError
from parloom.staging.nodes import Program, PythonFunction
from parloom.staging.parser import parse
from parloom.transforms.analyses.storage import find_reuse
from parloom.transforms.lowering.program import lower_program
from tests.codegen.kernels import interpret, mapped, run_plain, same_bits, text_of
from tests.transforms.structure import program


def host(parsed: Program) -> str:
    """The text of a mapped program's sequential part."""
    compiled = launchers(lower_program(parsed), code.plain(text_of(parsed)))
    return print_host(parsed, compiled, find_reuse(parsed)).text


def body(parsed: Program) -> str:
    """The text below the first line of the function."""
    return host(parsed).split(":\n", 1)[1]


LOOP = """\
program steps(n; x: f64[n], y: f64[n], limit: f64, most: i64~) {
  require y.0 == x.0
  last: f64[n], k: i64~ = while (a: f64[n] = x, i: i64~ = 0) {
    more: bool = i < most
    yield more
  } do (b: f64[n], j: i64~) {
    small: bool = limit < 1.0_f64
    next: f64[n] = if small {
      half: f64[n] = loop (t < n) {
        e: f64 = b[t]
        h: f64 = e / 2.0_f64
        collect h
      }
      yield half
    } else {
      yield y
    }
    check small else ValueError("too large")
    up: i64~ = j + 1
    yield next, up
  }
  first: f64 = last[0]?
  return last, k, first
}
"""


def test_the_text_reads_like_the_program() -> None:
    assert host(mapped(program(LOOP))) == (
        "import numpy as np\n"
        "\n"
        "\n"
        "def steps(x, y, limit, most):\n"
        "    (n,) = x.shape\n"
        "    (y_0,) = y.shape\n"
        "    if y_0 != n:\n"
        "        check_arguments(x, y, limit, most)\n"
        '    with np.errstate(all="ignore"):\n'
        "        last, k = x, 0\n"
        "        while True:\n"
        "            more = k < most\n"
        "            if not more:\n"
        "                break\n"
        "            small = limit < 1.0\n"
        "            if small:\n"
        "                (half,) = launch_half(last, n)\n"
        "                next_1 = half\n"
        "            else:\n"
        "                next_1 = y\n"
        "            if not small:\n"
        "                fault(0)\n"
        "            up = k + 1\n"
        "            last, k = next_1, up\n"
        "        if not (0 <= 0 < n):\n"
        "            fault(1, last.shape, 0)\n"
        "        first = last[0]\n"
        "    return (owned(last, x, y), k, first)\n"
    )


def test_the_program_runs_as_the_interpreter_does() -> None:
    parsed = mapped(program(LOOP))
    x, y = np.arange(3.0), np.ones(3)
    for limit, most in ((0.5, 4), (0.5, 0), (2.0, 0)):
        given = [x, y, np.float64(limit), np.int64(most)]
        assert same_bits(interpret(parsed, given), run_plain(parsed, given))


def test_faults_come_in_order_and_with_their_place() -> None:
    parsed = mapped(program(LOOP))
    x, y = np.arange(3.0), np.ones(3)
    with pytest.raises(CheckFailed, match="too large"):
        run_plain(parsed, [x, y, np.float64(2), np.int64(1)])
    with pytest.raises(StagedIndexError) as error:
        run_plain(parsed, [x[:0], y[:0], np.float64(0), np.int64(2)])
    assert error.value.what == "index 0 is out of bounds for axis 0 with size 0"
    assert [place.line for place in error.value.where] == [22]


def test_sizes_that_meet_must_be_equal() -> None:
    parsed = mapped(program(LOOP))
    with pytest.raises(ShapeError, match="sizes do not fit together: axis 0 of x has size 3"):
        run_plain(parsed, [np.ones(3), np.ones(4), np.float64(2), np.int64(1)])


def test_fixed_sizes_are_checked() -> None:
    parsed = mapped(program("program f(n; x: f64[n, 1]) {\n  return n\n}"))
    assert "    if x_1 != 1:\n        check_arguments(x)\n" in body(parsed)
    assert run_plain(parsed, [np.ones((4, 1))]) == [4]
    with pytest.raises(ShapeError, match="axis 1 of x has size 2, not 1"):
        run_plain(parsed, [np.ones((4, 2))])


def test_sizes_are_numpy_scalars_only_where_they_are_scalars() -> None:
    extent = "program f(n; x: f64[n]) {\n  y: f64[n] = loop (i < n) {\n    collect 1_f64\n  }\n"
    assert "np.int64" not in body(mapped(program(f"{extent}  return y\n}}")))
    scalar = f"{extent}  k: i64~ = n * n\n  return y, k\n}}"
    assert "    n = np.int64(n)\n" in body(mapped(program(scalar)))
    read = "program f(n; x: f64[n]) {\n  y: i64[n] = loop (i < n) {\n    collect n\n  }\n"
    assert "    n = np.int64(n)\n" in body(mapped(program(f"{read}  return y\n}}")))


def test_state_that_changes_places() -> None:
    text = """\
    program f(n; x: f64[n], y: f64[n], most: i64~) {
      u: f64[n], v: f64[n] = for (i < most; a: f64[n] = x, b: f64[n] = y) {
        c: f64[n] = loop (t < n) {
          e: f64 = a[t]
          g: f64 = i as f64
          h: f64 = e + g
          collect h
        }
        yield b, c
      }
      return u, v
    }
    """
    parsed = mapped(program(text))
    assert "        u, v = v, c\n" in body(parsed)
    for most in range(4):
        given = [np.arange(3.0), -np.ones(3), np.int64(most)]
        assert same_bits(interpret(parsed, given), run_plain(parsed, given))


@pytest.mark.parametrize("read_again", [False, True])
def test_updates_are_stores_where_nothing_reads_the_old_array(read_again: bool) -> None:
    text = f"""\
    program f(n; x: f64[n]) {{
      a: f64[n] = loop (i < n) {{
        e: f64 = x[i]
        collect e
      }}
      b: f64[n] = a with [1]? = 5_f64
      return b{", a" if read_again else ""}
    }}
    """
    parsed = mapped(program(text))
    stored = "    b = copied(a)\n    b[1] = 5.0\n" if read_again else "\n    a[1] = 5.0\n"
    assert stored in body(parsed)
    assert run_plain(parsed, [np.ones(2)])[0].tolist() == [1.0, 5.0]
    with pytest.raises(StagedIndexError, match="index 1 is out of bounds for axis 0 with size 1"):
        run_plain(parsed, [np.ones(1)])


# Calls of the user's functions.


CALLS = """\
program f(n; a: f64, k: i64~, x: f64[n]) {
  b: f64 = a * a
  call seen(b, k, x, 3)
  c: f64 = b * a
  call seen(c, k, x, 4)
  return c
}
"""


def test_calls_come_in_order_with_the_users_numpy_settings() -> None:
    found: list[tuple[Any, ...]] = []

    def seen(*values: Any) -> None:
        found.append((*values, np.geterr()["over"]))
        values[2][:] = 0

    parsed = mapped(parse(CALLS, {"seen": PythonFunction(seen)}))
    x = np.ones(2)
    with np.errstate(over="raise"):
        assert run_plain(parsed, [np.float64(1e200), np.int64(2), x]) == [np.inf]
    assert x.tolist() == [1.0, 1.0]
    (b, k, copy, three, over), (c, *_) = found
    assert (b, c, over) == (np.inf, np.inf, "raise")
    assert (type(b), type(k), type(three), k, three) == (np.float64, int, int, 2, 3)
    assert copy.tolist() == [0.0, 0.0]


def test_a_function_that_raises_stops_the_program() -> None:
    @pm.jit
    def f(x: Any) -> Any:
        print(x.sum())
        return x

    class Closed:
        def write(self, text: str) -> None:
            raise ValueError("closed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", Closed())
        with pytest.raises(ValueError, match="closed"):
            f(np.ones(2))
    assert f(np.ones(2)).tolist() == [1.0, 1.0]


# Results.


def certain(text: str) -> list[tuple[bool, list[str]]]:
    """What each result may share."""
    parsed = mapped(program(text))
    shared = shared_results(parsed, lower_program(parsed))
    return [(s.certain, [v.name for v in s.others]) for s in shared]


def test_new_arrays_are_not_compared() -> None:
    text = """\
    program f(n; x: f64[n], y: f64[n], c: bool) {
      z: f64[n] = loop (i < n) {
        e: f64 = x[i]
        h: f64 = e + 1.0_f64
        collect h
      }
      w: f64[n] = if c {
        yield z
      } else {
        yield y
      }
      return x, z, z, w, n
    }
    """
    assert certain(text) == [
        (True, ["x"]),
        (False, []),
        (True, ["z"]),
        (False, ["y", "z"]),
        (False, []),
    ]


def test_state_may_be_what_it_began_with() -> None:
    shared = certain(LOOP)
    assert shared == [(False, ["x", "y"]), (False, []), (False, [])]


def test_results_are_copied_only_where_they_are_shared() -> None:
    parsed = mapped(program(LOOP))
    x, y = np.arange(3.0), np.ones(3)
    for limit, most in ((0.5, 0), (0.5, 2)):
        last, *_ = run_plain(parsed, [x, y, np.float64(limit), np.int64(most)])
        assert not np.may_share_memory(last, x)
        assert not np.may_share_memory(last, y)


# Through the front end.


@pm.jit
def halve_until(x: Any, limit: Any) -> Any:
    steps = 0
    while x.sum() > limit:  # the sum at # each step
        x = x / 2
        steps += 1
    return x[steps], steps


def test_the_users_lines_stand_above_their_statements() -> None:
    text = halve_until.explain(np.ones(3), 1.0).source("host")
    name = Path(__file__).name
    assert f"# while x.sum() > limit:  # the sum at # each step  [{name}:" in text
    assert f"# steps += 1  [{name}:" in text
    compile(text, "host", "exec")


def test_the_text_is_deterministic() -> None:
    given = (np.ones(3), 1.0)
    other: Any = pm.jit(halve_until.function)
    assert other.explain(*given).source("host") == halve_until.explain(*given).source("host")


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_errors_show_only_the_users_lines(target: str) -> None:
    with pytest.raises(IndexError) as error:
        halve_until.on(target)(np.ones(3), 1e-9)
    files = {frame.filename for frame in traceback.extract_tb(error.value.__traceback__)}
    assert files == {__file__}
    assert "return x[steps], steps" in str(error.value)


SCALE = np.array(2.0)


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_arrays_without_axes(target: str) -> None:
    @pm.jit(target=target)
    def f(x: Any) -> Any:
        return x * SCALE, SCALE + 1.0, SCALE

    scaled, number, scale = f(np.ones(2))
    assert (scaled.tolist(), number, scale) == ([2.0, 2.0], 3.0, 2.0)
    assert scale is not SCALE


def test_names_do_not_collide() -> None:
    @pm.jit
    def fault(owned: Any, power: Any, check_arguments: Any, np: Any) -> Any:
        launch_loop = owned.sum()
        while launch_loop > power:
            owned = owned / 2
            launch_loop = owned.sum()
        return owned, power**2, check_arguments + np

    found = fault(np.ones(4), 1.0, np.arange(2), np.arange(2))
    assert [np.asarray(v).tolist() for v in found] == [[0.25] * 4, 1.0, [0, 2]]
