"""The Python text: precedence, constants, narrow integers, names, comments that stay comments."""

from __future__ import annotations

import ast
import inspect
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parloom.codegen.plain import load
from parloom.codegen.python_literals import comment, literal
from parloom.codegen.python_text import Printer, print_kernels
from parloom.codegen.scalar_functions import FUNCTIONS
from parloom.staging import primitives as p
from parloom.staging.locations import Location
from parloom.staging.types import Scalar
from parloom.transforms.kernel_ir import (
    Assign,
    Convert,
    Expr,
    Function,
    If,
    Let,
    Literal,
    Local,
    Note,
    Prim,
    Statement,
)
from tests.codegen.kernels import mapped, run_plain, same_bits, text_of
from tests.codegen.test_scalars import REALS, special
from tests.transforms.forms import FORMS, whole_numbers
from tests.transforms.structure import program

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
BOOL, I64, F64, U8 = (np.dtype(n) for n in ("bool", "int64", "float64", "uint8"))
LOCALS = [Local(f"{d.name}_{k}", d) for d in (BOOL, I64, F64, U8) for k in range(2)]
CHOICES = [
    *(p.ADD, p.SUBTRACT, p.MULTIPLY, p.DIVIDE, p.FLOOR_DIVIDE, p.REMAINDER, p.NEGATIVE, p.INVERT),
    *(
        p.EQUAL,
        p.NOT_EQUAL,
        p.LESS,
        p.LESS_EQUAL,
        p.GREATER,
        p.GREATER_EQUAL,
        p.MINIMUM,
        p.ABSOLUTE,
    ),
    *(p.LOGICAL_AND, p.LOGICAL_OR, p.LOGICAL_XOR, p.LOGICAL_NOT, p.ISNAN, p.SIGN, p.SQUARE),
    *(p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR, p.LEFT_SHIFT, p.RIGHT_SHIFT, p.SELECT),
]


# Expressions.


def expression(rng: random.Random, depth: int) -> Expr:
    """A random well-typed expression."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(LOCALS) if rng.random() < 0.8 else Literal(np.int64(rng.randint(-3, 3)))
    primitive = rng.choice(CHOICES)
    args = [expression(rng, depth - 1) for _ in range(primitive.arity)]
    if primitive is p.SELECT:
        args[0] = in_dtype(args[0], BOOL)
    try:
        loop = primitive.loop(tuple(Scalar(a.dtype) for a in args))
    except TypeError:
        return args[0]
    if any(t.dtype == np.float16 for t in loop):
        return args[0]
    converted = tuple(in_dtype(a, t.dtype) for a, t in zip(args, loop, strict=True))
    return Prim(primitive, converted, primitive.result(loop).dtype)


def in_dtype(expr: Expr, dtype: np.dtype[Any]) -> Expr:
    return expr if expr.dtype == dtype else Convert(expr, dtype)


def value(expr: Expr, known: dict[str, Any]) -> Any:
    """What the expression is, by NumPy."""
    if isinstance(expr, Local):
        return known[expr.name]
    if isinstance(expr, Literal):
        return expr.value
    if isinstance(expr, Convert):
        return value(expr.arg, known).astype(expr.dtype)
    assert isinstance(expr, Prim)
    found = expr.primitive.evaluate(*(value(a, known) for a in expr.args))
    return np.asarray(found, expr.dtype)[()]


def run_text(expr: Expr, known: dict[str, Any]) -> Any:
    """What its text is, as plain Python."""
    printer = Printer()
    text = printer.text(expr)
    helpers = "\n".join(print_helpers(printer))
    namespace = load(f"import math\nimport numpy as np\n{helpers}\ndef f(x):\n    return {text}\n")
    namespace.update(known)
    return np.asarray(namespace["f"](None), expr.dtype)[()]


def print_helpers(printer: Printer) -> list[str]:
    from parloom.codegen.scalar_functions import source

    return source(printer.helpers).splitlines()


@pytest.mark.parametrize("seed", range(0, 400, 100))
def test_the_text_of_an_expression_means_the_expression(seed: int) -> None:
    for number in range(seed, seed + 100):
        rng = random.Random(number)
        expr = expression(rng, 4)
        for _ in range(3):
            known = {local.name: rng.choice(special(local.dtype.name)) for local in LOCALS}
            found, expected = run_text(expr, known), value(expr, known)
            assert same_bits([np.abs(found)], [np.abs(expected)]), Printer().text(expr)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Prim(p.SUBTRACT, (LOCALS[2], Prim(p.SUBTRACT, (LOCALS[3], LOCALS[2]), I64)), I64),
         "int64_0 - (int64_1 - int64_0)"),
        (Prim(p.MULTIPLY, (Prim(p.ADD, (LOCALS[2], LOCALS[3]), I64), LOCALS[2]), I64),
         "(int64_0 + int64_1) * int64_0"),
        (Prim(p.EQUAL, (Prim(p.LESS, (LOCALS[2], LOCALS[3]), BOOL), LOCALS[0]), BOOL),
         "(int64_0 < int64_1) == bool_0"),
        (Prim(p.LOGICAL_AND, (Prim(p.LESS, (LOCALS[2], LOCALS[3]), BOOL), LOCALS[0]), BOOL),
         "(int64_0 < int64_1) & bool_0"),
        (Prim(p.LOGICAL_NOT, (Prim(p.LESS, (LOCALS[2], LOCALS[3]), BOOL),), BOOL),
         "not int64_0 < int64_1"),
        (Prim(p.ADD, (Prim(p.SELECT, (LOCALS[0], LOCALS[2], LOCALS[3]), I64), LOCALS[2]), I64),
         "(int64_0 if bool_0 else int64_1) + int64_0"),
        (Prim(p.ADD, (LOCALS[6], LOCALS[7]), U8), "np.uint8(uint8_0 + uint8_1)"),
        (Convert(LOCALS[4], U8), "np.uint8(to_int32(float64_0))"),
        (Convert(LOCALS[2], BOOL), "(int64_0 != 0)"),
    ],
)  # fmt: skip
def test_texts(expr: Expr, text: str) -> None:
    assert Printer().text(expr) == text


# Constants.


@pytest.mark.parametrize("name", REALS)
def test_constants_keep_their_type_and_bits(name: str) -> None:
    for constant in special(name):
        text, _ = literal(constant)
        namespace = load(f"import numpy as np\ndef f():\n    return {text}\n")
        found = np.asarray(namespace["f"]())
        assert found.dtype == constant.dtype, text
        assert np.array_equal(found, constant, equal_nan=True), text
        assert np.signbit(np.float64(found)) == np.signbit(np.float64(constant)), text


@pytest.mark.parametrize(
    ("constant", "text"),
    [
        (np.float64(0.1), "0.1"),
        (np.float64(-0.0), "np.float64(-0.0)"),
        (np.float64(np.nan), "np.nan"),
        (np.float64(-np.inf), "np.float64(-np.inf)"),
        (np.float32(0.1), "np.float32(0.10000000149011612)"),
        (np.int64(-(2**63)), "np.int64(-9223372036854775808)"),
        (np.uint64(2**64 - 1), "np.uint64(18446744073709551615)"),
        (np.int8(-1), "np.int8(-1)"),
        (np.bool_(True), "True"),
        (np.complex64(complex(-0.0, np.inf)), "np.complex64(complex(np.float64(-0.0), np.inf))"),
    ],
)
def test_texts_of_constants(constant: Any, text: str) -> None:
    assert literal(constant)[0] == text


# Names and comments.


@pytest.mark.parametrize("hint", ["exp", "minimum", "fma", "to_int64", "range", "np", "_number_0"])
def test_variables_may_be_called_like_what_the_text_calls(hint: str) -> None:
    source = program(FORMS["elementwise"].replace("u:", f"{hint}:").replace("u +", f"{hint} +"))
    (stmt,) = source.body.stmts
    arguments = whole_numbers(source, {"n": 5})
    expected = run_plain(mapped(program(FORMS["elementwise"])), arguments)
    assert stmt.binders[0].name == "y"
    assert same_bits(run_plain(mapped(source), arguments), expected)


def test_helpers_keep_their_names() -> None:
    """A variable called like a helper function makes way, also where another has its new name."""
    sign, other = Local("sign", F64), Local("sign_1", F64)
    body: list[Statement] = [
        Let(sign, Prim(p.SIGN, (LOCALS[4],), F64)), Assign(other, sign), Let(other, sign)
    ]  # fmt: skip
    lines = Printer().function(Function("chunk", (LOCALS[4],), body), "k")
    assert lines == [
        "def k_chunk(float64_0):",
        "    sign_2 = sign_float(float64_0)",
        "    sign_1 = sign_2",
        "    sign_1 = sign_2",
    ]


LINES = [
    "x = 1  # ends with a backslash \\",
    "y = '''",
    'z = """ + \\"\\"\\" ',
    "a = 1\x0cimport os",
    "b = '\u2028import os'",
    "c = '\u202eimport os'",
    "d = 'äöü λ 漢字'",
    "\tif True: e = '\\n'",
]


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_users_line_cannot_end_its_comment(number: int, tmp_path: Path) -> None:
    path = tmp_path / "weird\nimport os #.py"
    path.write_bytes("\n".join(LINES).encode())
    place = Location(str(path), number + 1)
    text = comment(place)
    assert len(text.splitlines()) == 1
    assert text.isprintable()
    body: list[Statement] = [Note(place), If(LOCALS[0], [Let(LOCALS[2], LOCALS[3])])]
    lines = Printer().function(Function("chunk", (LOCALS[0], LOCALS[3]), body), "k")
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)
    assert set(namespace) == {"__builtins__", "k_chunk"}
    assert "os" not in namespace["k_chunk"].__code__.co_names


def test_a_line_stands_once_as_long_as_it_stays_the_same() -> None:
    place = Location(__file__, 3)
    body: list[Statement] = [
        Note(place), Let(LOCALS[2], LOCALS[3]), Note(place), Let(LOCALS[4], LOCALS[5])
    ]  # fmt: skip
    lines = Printer().function(Function("chunk", (), body), "k")
    assert sum("#" in line for line in lines) == 1


def test_the_text_imports_what_it_uses() -> None:
    def text(name: str) -> str:
        return text_of(mapped(program(FORMS[name])))

    assert text("elementwise").startswith("import numpy as np\n\n\ndef y_chunk(")
    assert "intrinsics import fma" in text("gradient")
    assert print_kernels([]) == "import numpy as np\n"


def test_every_helper_stands_alone() -> None:
    """No helper needs another one: a text has just those that it uses."""
    for name, function in FUNCTIONS.items():
        calls = [
            x.func
            for x in ast.walk(ast.parse(inspect.getsource(function)))
            if isinstance(x, ast.Call)
        ]
        names = {x.id for x in calls if isinstance(x, ast.Name)}
        assert names & set(FUNCTIONS) == set(), name
