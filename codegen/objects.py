"""Machine code: an LLVM module becomes object code, and object code becomes functions.

Only llvmlite is needed. Whatever printer made the module, it is optimised, emitted and loaded here,
so all native code of a process agrees on the processor's features and on the passes that ran.
llvmlite takes a lock around each call, so this may run in several threads.
"""

from __future__ import annotations

import contextlib
import re
import struct
import sys
from collections.abc import Collection, Generator, Mapping
from functools import cache
from typing import Any

from ..staging.dataclass import dataclass
from .cache_entry import Unusable
from .llvm_binding import llvm
from .native import NativeFunction, Signature

# Symbols carry a prefix, so that a kernel named `exp` is not taken for the function of libm.
_PREFIX = "parloom_"


@dataclass(frozen=True, slots=True)
class Host:
    """The processor that code is made for."""

    triple: str
    cpu: str
    features: str


@dataclass(frozen=True, slots=True)
class ObjectCode:
    """One object file in memory.

    functions : names of the kernels that it defines
    code : the object file
    """

    functions: tuple[str, ...]
    code: bytes


class UnresolvedSymbol(Unusable):
    """Object code needs a symbol that this process does not have."""


def symbol(function: str) -> str:
    """The symbol of the kernel `function` in object code."""
    return _PREFIX + function


@cache
def host() -> Host:
    """The processor of this process."""
    return Host(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
    )


def optimise(module: Any, functions: Collection[str]) -> Any:
    """Optimise an LLVM module in place at level 3; all but `functions` becomes internal to it.

    No option lets LLVM change a result: nothing is reassociated, and only `llvm.fma` is fused.
    """
    kept = {symbol(name) for name in functions}
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
    for variable in module.global_variables:  # Numba's environments, which nothing needs
        if not variable.is_declaration and not variable.name.startswith("llvm."):
            variable.linkage = "internal"
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = True
    builder = llvm.create_pass_builder(_machine(), tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def emit(module: Any, functions: Collection[str]) -> ObjectCode:
    """The object code of an optimised module that defines the kernels `functions`.

    Raises UnresolvedSymbol if the code needs more than the C and the mathematical library.
    """
    with _addresses_as_written():
        code: bytes = _machine().emit_object(module)
    _resolve(code)
    return ObjectCode(tuple(functions), code)


def assembly(module: Any) -> str:
    """The machine code of an optimised module, for reading."""
    with _addresses_as_written():
        text: str = _machine().emit_assembly(module)
    return text


@contextlib.contextmanager
def _addresses_as_written() -> Generator[None]:
    """While it is open, LLVM does not look for other induction variables (its loop strength
    reduction): that takes more than half of the time that code takes to emit, and the loops of
    kernels run as fast without.
    """
    llvm.set_option("parloom", "-disable-lsr=true")
    try:
        yield
    finally:
        llvm.set_option("parloom", "-disable-lsr=false")


def load(code: ObjectCode, signatures: Mapping[str, Signature]) -> dict[str, NativeFunction]:
    """Load object code into this process; it stays loaded while one of its functions lives.

    Raises UnresolvedSymbol if this process lacks a symbol that the code needs, or the code lacks
    one of its functions.
    """
    _resolve(code.code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.code))
    engine.finalize_object()
    addresses = {name: engine.get_function_address(symbol(name)) for name in code.functions}
    for name, address in addresses.items():
        if not address:
            raise UnresolvedSymbol(f"native code lacks {symbol(name)}")
    return {
        name: NativeFunction(name, signatures[name], address, engine)
        for name, address in addresses.items()
    }


def _resolve(code: bytes) -> None:
    # LLVM ends the process on a symbol that it cannot resolve, so look first.
    missing = [n for n in _undefined(code) if _FOREIGN.match(n) or not has_symbol(n)]
    if missing:
        raise UnresolvedSymbol(f"native code needs {', '.join(missing)}")


# What numba and Python bring along must not be needed: a process that loads code may lack it.
_FOREIGN = re.compile(r"numba_|NRT_|_?Py[A-Z_]")

_SECTION = struct.Struct("<IIQQQQIIQQ")  # [1] kind, [4] offset, [5] size, [6] section of names
_SYMBOL = struct.Struct("<IBBHQQ")  # [0] offset of the name, [3] section that defines it
_SYMTAB = 2


def _undefined(code: bytes) -> list[str]:
    """The undefined symbols of a 64-bit little-endian ELF object; of other formats none."""
    if code[:6] != b"\x7fELF\x02\x01":
        return []
    (offset,) = struct.unpack_from("<Q", code, 0x28)
    (count,) = struct.unpack_from("<H", code, 0x3C)
    sections = [_SECTION.unpack_from(code, offset + k * _SECTION.size) for k in range(count)]
    names: list[str] = []
    for section in sections:
        if section[1] != _SYMTAB:
            continue
        start, size = section[4], section[5]
        strings = int(sections[int(section[6])][4])
        for entry in _SYMBOL.iter_unpack(code[start : start + size]):
            if entry[0] and entry[3] == 0:
                begin = strings + int(entry[0])
                names.append(code[begin : code.index(b"\0", begin)].decode())
    return [name for name in names if name != "_GLOBAL_OFFSET_TABLE_"]


def has_symbol(name: str) -> bool:
    """Whether object code may refer to the symbol: this process or the C library defines it."""
    _load_libraries()
    return bool(llvm.address_of_symbol(name))


@cache
def _load_libraries() -> None:
    """The mathematical libraries, as far as the C library has them."""
    if sys.platform == "linux":
        for library in ("libm.so.6", "libmvec.so.1"):
            with contextlib.suppress(RuntimeError):
                llvm.load_library_permanently(library)


@cache
def _machine() -> Any:
    return _new_machine()


def _new_machine() -> Any:
    # An execution engine owns its machine, so each gets a new one.
    _initialise()
    target = llvm.Target.from_triple(host().triple)
    static = host().triple.startswith("x86_64")
    return target.create_target_machine(
        cpu=host().cpu,
        features=host().features,
        opt=3,
        reloc="static" if static else "default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _initialise() -> None:
    # Loops with a float sum in index order: the elements in vectors, then the sum of the lanes in
    # order. Off by default on x86-64, although it gives the same bits. It holds for all LLVM code
    # of the process.
    llvm.set_option("parloom", "-force-ordered-reductions=true")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
