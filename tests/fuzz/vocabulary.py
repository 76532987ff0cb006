"""What random functions are made of: templates of expressions, by what they make.

    "{0} + {1}", "ap", Kind.EXACT

A template's holes are filled by expressions of these sorts: `a` an array, `p` what meets {0}
element by element, `m` a mask of {0}'s shape, `k` an array of integers, `n` a number, `i` an
integer number, `s` a size, `c` a condition; `r`, a number computed from the parameters of a lambda
of which the template is the body (`v`: an element, `i`: an index), `e` likewise a number or an
array, `b` a condition, `g` a key. Whether a template fits its parts is found out by running it.
"""

from __future__ import annotations

from tests.fuzz.noise import Kind

X, U, S, R, Z = Kind.EXACT, Kind.ULPS, Kind.SUM, Kind.ROUGH, Kind.ZERO

Template = tuple[str, str, Kind]


def _each(names: str, template: str, holes: str, kind: Kind) -> list[Template]:
    return [(template.replace("F", name), holes, kind) for name in names.split()]


ELEMENTWISE: list[Template] = [
    *_each("+ - * / // %", "({0} F {1})", "ap", X),
    *_each("+ - *", "({1} F {0})", "ap", X),
    *_each("< <= > >= == !=", "({0} F {1})", "ap", X),
    *_each("& | ^", "({0} F {1})", "ap", X),
    *_each("minimum maximum", "np.F({0}, {1})", "ap", Z),
    *_each("add subtract multiply divide floor_divide remainder", "np.F({0}, {1})", "ap", X),
    *_each("logical_and logical_or logical_xor not_equal less", "np.F({0}, {1})", "ap", X),
    *_each("arctan2 hypot", "np.F({0}, {1})", "ap", U),
    *_each("floor ceil rint trunc sign square abs negative positive", "np.F({0})", "a", X),
    *_each("isnan isinf isfinite logical_not zeros_like ones_like copy", "np.F({0})", "a", X),
    *_each("exp exp2 expm1 sin cos tan arctan tanh sinh cosh", "np.F({0})", "a", U),
    *_each("log log2 log10 log1p", "np.F(np.abs({0}))", "a", U),
    *_each("arcsin arccos", "np.F(np.minimum(np.abs({0}), 1))", "a", U),
    *_each("- ~ +", "(F{0})", "a", X),
    *_each("float32 float64 int64 bool complex128", "{0}.astype(np.F)", "a", X),
    *_each("int8 uint8 int32 uint64", "np.clip({0}, 0, 100).astype(np.F)", "a", X),
    ("np.sqrt(np.abs({0}))", "a", X),
    ("np.sqrt({0})", "a", X),
    ("abs({0})", "a", X),
    ("({0} ** 2)", "a", U),
    ("({0} ** 3)", "a", U),
    ("(np.abs({0}) ** 0.5)", "a", U),
    ("np.power(np.abs({0}), {1})", "ap", U),
    ("(2 ** ({0} & 7))", "a", X),
    ("({0} << ({1} & 3))", "ap", X),
    ("({0} >> ({1} & 3))", "ap", X),
    ("np.where({1}, {0}, {2})", "amp", X),
    ("np.where({1}, {2}, {0})", "amp", X),
    ("np.where({0}, {1}, {2})", "app", X),
    ("np.where({0}, 2, 1)", "a", X),
    ("np.clip({0}, {1}, {2})", "ann", Z),
    ("np.clip({0}, -1, {1})", "ap", Z),
    ("{0}.clip(0, 2)", "a", Z),
    ("np.round({0})", "a", X),
    ("np.round({0}, 1)", "a", U),
    ("np.full_like({0}, {1})", "an", X),
    ("np.divide({1}, {0})", "an", X),
    ("({1} // {0})", "an", X),
    ("({1} % {0})", "an", X),
    ("({1} < {0})", "an", X),
]

VIEWS: list[Template] = [
    *((f"{{0}}[{key}]", "a", X) for key in (
        "::-1", "::2", "1:", ":-1", "-2:", "::-2", "1:-1", "::3", "-1:0:-1", "..., ::-1", "None",
        "..., None", ":, None", "..., 0", "..., -1", "0", "-1", "1", ":, 1:", "1:, ::-1", "::2, 1:",
        ":, 0", "0, :", "..., 1:", ":, ::-2", "5:", "-100:2", ":0", "..., None, :", "0, ...",
        "None, 1:, None", "True", "...",
    )),
    ("{0}[{1}:]", "ai", X),
    ("{0}[:{1}]", "ai", X),
    ("{0}[{1}:{2}]", "aii", X),
    ("{0}[{1}::-1]", "ai", X),
    ("{0}[{1} % {0}.shape[0]]", "ai", X),
    ("{0}[..., {1} % {0}.shape[-1]]", "ai", X),
    ("{0}.T", "a", X),
    ("{0}.transpose()", "a", X),
    ("np.transpose({0})", "a", X),
    ("np.swapaxes({0}, 0, 1)", "a", X),
    ("{0}.swapaxes(0, -1)", "a", X),
    ("np.expand_dims({0}, 1)", "a", X),
    ("np.squeeze({0})", "a", X),
    ("np.flip({0})", "a", X),
    ("np.flip({0}, axis=0)", "a", X),
    ("np.flip({0}, axis=-1)", "a", X),
    ("np.broadcast_to({0}, (2, *{0}.shape))", "a", X),
]  # fmt: skip

COPIES: list[Template] = [
    ("{0}.copy()", "a", X),
    ("{0}.flatten()", "a", X),
    ("{0}.ravel()", "a", X),
    ("np.ravel({0})", "a", X),
    ("np.diff({0})", "a", X),
    ("np.diff({0}, axis=0)", "a", X),
    ("{0}[{1}]", "am", X),
    ("{0}[~{1}]", "am", X),
    ("{0}[{0} > {1}]", "an", X),
    ("{0}[{0} == {0}]", "a", X),
    ("np.compress({0} > 0, {0})", "a", X),
    ("{0}[{1} % {0}.shape[0]]", "ak", X),
    ("{0}[..., {1} % {0}.shape[-1]]", "ak", X),
    ("{0}[1:, {1} % {0}.shape[1]]", "ak", X),
    ("np.take({0}, {1} % {0}.shape[0], axis=0)", "ak", X),
    ("{0}.take({1} % {0}.size)", "ak", X),
    ("np.concatenate([{0}, {1}])", "ap", X),
    ("np.concatenate(({0}, {0}[::-1], {1}), axis=-1)", "ap", X),
    ("np.stack([{0}, {1}])", "ap", X),
    ("np.stack([{0}, {1}], axis=-1)", "ap", X),
    ("np.vstack([{0}, {1}])", "ap", X),
    ("np.hstack([{0}, {1}])", "ap", X),
    ("np.column_stack([{0}, {1}])", "ap", X),
    ("np.outer({0}, {1})", "aa", X),
    ("np.diag({0})", "a", X),
    ("np.arange({0})", "s", X),
    ("np.arange(1, {0}, 2)", "s", X),
    ("np.arange({0}, -1, -1)", "s", X),
    ("np.eye({0})", "s", X),
    ("np.zeros({0})", "s", X),
    ("np.ones(({0}, 2), np.int32)", "s", X),
    ("np.full({0}, {1})", "sn", X),
    ("np.array([{0}, {1}])", "nn", X),
    ("np.asarray([{0}, {1}, 2.5])", "nn", X),
    ("pm.range({0}).map(lambda {v}: {1})", "se", X),
    ("pm.collect(({0}, 2), lambda {i}, {j}: {1})", "sr", X),
    ("pm.collect({0}.shape, lambda {i}, {j}: {0}[{i}, {j}] + {1})", "ar", X),
    ("{0}.map(lambda {v}: {1})", "ae", X),
    ("{0}.map(lambda {v}: ({1}, {2}))[1]", "aee", X),
    ("{0}.rows.map(lambda {v}: {1})", "ae", X),
    ("{0}.cols.map(lambda {v}: {1})", "ae", X),
    ("{0}.zip({1}).map(lambda {v}, {w}: {2})", "ape", X),
    ("{0}.rows.zip(pm.range({0}.shape[0])).map(lambda {v}, {w}: {1})", "ae", X),
    ("{0}.filter(lambda {v}: {1})", "ab", X),
    ("{0}.filter(lambda {v}: {1}).map(lambda {v}: {2})", "abe", X),
    ("{0}.rows.filter(lambda {v}: {1}).map(lambda {v}: {2})", "abe", X),
    ("pm.range({0}).filter(lambda {v}: {1}).map(lambda {v}: {2})", "sbe", X),
    ("{0}.group_by(lambda {v}: {1}, size=3).sum()", "ag", S),
    ("{0}.group_by(lambda {v}: {1}, size=4).sum(lambda {v}: {2})", "agr", R),
    ("{0}.group_by({1} % 3, size={2}).count()", "aks", X),
    ("{0}.group_by(lambda {v}: {1}, size=3).count()", "ag", X),
    ("{0}.group_by(lambda {v}: {1}, size=3).mean()", "ag", R),
    ("{0}.group_by(lambda {v}: {1}, size=2).any(lambda {v}: {2})", "agb", X),
    ("{0}.group_by(lambda {v}: {1}, size=2).all(lambda {v}: {2})", "agb", X),
    ("{0}.rows.group_by(lambda {v}: {1}, size=3).sum()", "ag", S),
    ("pm.range({0}).group_by(lambda {v}: {1}, size=5).sum(lambda {v}: {2})", "sgr", R),
]


def _reductions() -> list[Template]:
    found: list[Template] = []
    axes = ("axis=0", "axis=-1", "axis=1", "axis=0, keepdims=True", "axis=(0, 1)", "keepdims=True",
            "axis=(-1,)", "axis=None", "axis=2", "axis=(0, -1), keepdims=True")  # fmt: skip
    kinds = {"sum": S, "prod": R, "mean": R, "var": R, "std": R, "min": Z, "max": Z}
    for name in "sum prod mean var std min max any all argmin argmax".split():
        kind = kinds.get(name, X)
        found += [(f"{{0}}.{name}({axis})", "a", kind) for axis in axes]
        found += [(f"np.{name}({{0}}, {axis})", "a", kind) for axis in axes[:4]]
    found += [
        ("{0}.sum(axis=0, dtype=np.float64)", "a", S),
        ("np.sum({0}, dtype=np.int64)", "k", S),
        ("{0}.var(axis=0, ddof=1)", "a", R),
        ("np.count_nonzero({0}, axis=0)", "a", X),
        ("np.linalg.norm({0}, axis=0)", "a", R),
        ("({0} @ {1})", "aa", R),
        ("({0} @ {0}.T)", "a", R),
        ("({0}.T @ {1})", "aa", R),
        ("np.dot({0}, {1})", "aa", R),
        ("np.inner({0}, {1})", "aa", R),
        ("sum([{0}, {1}, {0}])", "ap", X),
    ]
    return found


REDUCTIONS = _reductions()

NUMBERS: list[Template] = [
    *(
        (f"{{0}}.{name}()", "a", k)
        for name, k in {
            "sum": S,
            "prod": R,
            "mean": R,
            "var": R,
            "std": R,
            "min": Z,
            "max": Z,
            "any": X,
            "all": X,
            "argmin": X,
            "argmax": X,
        }.items()
    ),
    ("np.sum({0})", "a", S),
    ("np.max({0})", "a", Z),
    ("np.argmin({0})", "a", X),
    ("np.count_nonzero({0})", "a", X),
    ("np.linalg.norm({0})", "a", R),
    ("np.trace({0})", "a", S),
    ("np.vdot({0}, {1})", "ap", R),
    ("{0}.dot({1})", "ap", R),
    ("sum({0})", "a", S),
    ("max({0})", "a", X),
    ("min({0})", "a", X),
    ("{0}[0]", "a", X),
    ("{0}[-1]", "a", X),
    ("{0}[{1}]", "ai", X),
    ("{0}[{1} % {0}.shape[0]]", "ai", X),
    ("{0}[0, 1]", "a", X),
    ("{0}[-1, -2]", "a", X),
    ("{0}.size", "a", X),
    ("{0}.shape[0]", "a", X),
    ("len({0})", "a", X),
    ("({0} + {1})", "nn", X),
    ("({0} - {1})", "nn", X),
    ("({0} * {1})", "nn", X),
    ("({0} / {1})", "nn", X),
    ("({0} // {1})", "nn", X),
    ("({0} % {1})", "nn", X),
    ("(-{0})", "n", X),
    ("abs({0})", "n", X),
    ("min({0}, {1})", "nn", X),
    ("max({0}, {1})", "nn", X),
    ("np.minimum({0}, {1})", "nn", Z),
    ("({0} if {2} else {1})", "nnc", X),
    ("np.where({2}, {0}, {1})", "nnc", X),
    ("np.sqrt(np.abs({0}))", "n", X),
    ("math.sqrt(abs({0}))", "n", X),
    ("math.exp(-abs({0}))", "n", U),
    ("math.floor({0})", "n", X),
    ("np.exp({0})", "n", U),
    ("int({0})", "n", X),
    ("float({0})", "n", X),
    ("bool({0})", "n", X),
    ("round({0})", "n", X),
    ("divmod({0}, 3)[1]", "n", X),
    ("pow({0}, 2)", "n", U),
    ("({0} ** 2)", "n", U),
    ("np.float32({0})", "n", X),
    ("np.int64({0})", "i", X),
    ("({0} and {1})", "nn", X),
    ("({0} or {1})", "nn", X),
    ("{0}.sum(lambda {v}: {1})", "ar", R),
    ("{0}.sum(lambda {v}: {1}, where=lambda {v}: {2})", "arb", R),
    ("{0}.min(lambda {v}: {1})", "ar", Z),
    ("{0}.max(lambda {v}: {1})", "ar", Z),
    ("{0}.mean(lambda {v}: {1})", "ar", R),
    ("{0}.argmin(lambda {v}: {1})", "ar", X),
    ("{0}.argmax(lambda {v}: {1})", "ar", X),
    ("{0}.count(lambda {v}: {1})", "ab", X),
    ("{0}.any(lambda {v}: {1})", "ab", X),
    ("{0}.all(lambda {v}: {1})", "ab", X),
    ("{0}.max_by(lambda {v}: {1})", "ar", X),
    ("{0}.reduce(lambda {v}, {w}: {v} + {w})", "a", R),
    ("{0}.reduce(lambda {v}, {w}: {v} * {w}, identity=1)", "a", R),
    ("{0}.reduce(lambda {v}, {w}: np.maximum({v}, {w}))", "a", Z),
    ("{0}.reduce(lambda {v}, {w}: {v} if {v} > {w} else {w})", "a", X),
    ("{0}.reduce(lambda {v}, {w}: 2 * {v} - {w})", "a", X),
    ("{0}.reduce(lambda {v}, {w}: {1})", "ar", X),
    ("{0}.rows.sum(lambda {v}: {1})", "ar", R),
    ("{0}.rows.argmin(lambda {v}: {1})", "ar", X),
    ("{0}.rows.count(lambda {v}: {1})", "ab", X),
    ("{0}.cols.max(lambda {v}: {1})", "ar", Z),
    ("pm.range({0}).sum(lambda {v}: {1})", "sr", R),
    ("pm.range({0}).argmax(lambda {v}: {1})", "sr", X),
    ("pm.range({0}).count(lambda {v}: {1})", "sb", X),
    ("{0}.zip({1}).sum(lambda {v}, {w}: {2})", "apr", R),
    ("{0}.filter(lambda {v}: {1}).sum()", "ab", S),
    ("{0}.rows.filter(lambda {v}: {1}).sum(lambda {v}: {2})", "abr", R),
]

CONDITIONS: list[Template] = [
    *_each("< <= > >= == !=", "({0} F {1})", "nn", X),
    ("({0} < {1} <= {2})", "nnn", X),
    ("({0} != {1} < {2})", "nnn", X),
    ("({0} and {1})", "cc", X),
    ("({0} or {1})", "cc", X),
    ("(not {0})", "c", X),
    ("({0} > 0).any()", "a", X),
    ("({0} == {1}).all()", "ap", X),
    ("np.isnan({0})", "n", X),
    ("bool({0})", "n", X),
    ("({0} % 2 == 0)", "n", X),
    ("{0}.any()", "a", X),
]

LITERALS = (
    "0", "1", "2", "-1", "3", "-2", "0.5", "1.5", "-0.0", "-1.0", "2.0", "0.1", "7", "True",
    "np.float32(1.5)", "np.float64(0.1)", "np.int8(3)", "np.uint8(200)", "np.int64(-4)",
    "np.int32(7)", "np.nan", "np.inf", "np.bool_(True)", "1000",
)  # fmt: skip
TAME = ("0", "1", "2", "-1", "0.5", "3", "-2.0")
