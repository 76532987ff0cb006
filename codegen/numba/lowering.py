"""Numba's part of the engine: types a kernel text and lowers it to one LLVM module.

Differences from `numba.njit`, each for the time to compile or the speed of the code:

* All functions of a text share one library, which nobody optimises or links before it is complete;
  there are no Python wrappers and no environments.
* Only the passes that plain loops need run.
* An index is never negative, so an element's address has no wrap-around: with it, a loop from
  `start` to `stop` is not vectorised.
* Each kernel gets an entry with the native ABI, which tells LLVM which arrays do not overlap.

Imported by `engine` on first use, for it imports numba. It rests on internals of the releases that
the project's dependencies name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import (
    cgutils,
    codegen,
    compiler,
    compiler_lock,
    compiler_machinery,
    errors,
    imputils,
    lowering,
    targetconfig,
    typed_passes,
    types,
    typing,
    untyped_passes,
)
from numba.core.registry import cpu_target
from numba.core.runtime import nrt
from numba.core.typing import templates
from numba.np import numpy_support

from .. import transcendental, vector_math
from ..native import ArrayParam, Param, Signature
from . import intrinsics
from .engine import KernelTextError
from .entry import entry_text


def lower(
    namespace: dict[str, Any],
    functions: Mapping[str, FunctionType],
    signatures: Mapping[str, Signature],
) -> Any:
    """The LLVM module of kernels and the helpers they call, not yet optimised.

    namespace : the globals of the functions; calls in them are redirected to helpers
    """
    with compiler_lock.global_compiler_lock:
        unit = _Unit(namespace, functions)
        try:
            for name, params in signatures.items():
                unit.add_kernel(name, functions[name], params)
            return unit.module()
        except errors.NumbaError as error:
            raise KernelTextError(str(error)) from error
        finally:
            unit.close()


class _Unit:
    """The compilation of one text: its library, its flags, its helpers."""

    def __init__(self, namespace: dict[str, Any], functions: Mapping[str, FunctionType]) -> None:
        self.typing_context = cpu_target.typing_context
        self.target_context = cpu_target.target_context
        self.target_context.refresh()
        self.library = _Library(self.target_context.codegen(), "parloom")
        self.helpers = {name: _Helper(self, function) for name, function in functions.items()}
        namespace.update(self.helpers)

    def add_kernel(self, name: str, function: FunctionType, params: Signature) -> None:
        descriptor, result = self.lower(function, tuple(_numba_type(p) for p in params))
        if result is not types.none:
            raise KernelTextError(f"kernel {name} returns {result}")
        module = llvm.parse_assembly(entry_text(name, descriptor.mangled_name, params))
        self.library.add_llvm_module(module)

    def lower(self, function: FunctionType, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        """Lower one function into the library: its descriptor and the type it returns."""
        lowered: tuple[Any, Any] = compiler.compile_extra(
            self.typing_context,
            self.target_context,
            function,
            args=arguments,
            return_type=None,
            flags=_FLAGS,
            locals={},
            library=self.library,
            pipeline_class=_Pipeline,
        )
        return lowered

    def module(self) -> Any:
        return self.library.link()

    def close(self) -> None:
        for helper in self.helpers.values():
            with contextlib.suppress(KeyError):  # never called
                self.target_context.remove_user_function(helper)


class _Flags(compiler.Flags):
    """Compared by identity: typing a call looks them up once for each overload it tries."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


_FLAGS = _Flags()
_FLAGS.no_cpython_wrapper = True
_FLAGS.no_cfunc_wrapper = True
_FLAGS.no_compile = True
_FLAGS.error_model = "numpy"
_FLAGS.forceinline = True


class _Helper:
    """Stands for a function of the text in the globals of the others, and is typed by each call."""

    def __init__(self, unit: _Unit, function: FunctionType) -> None:
        self.unit = unit
        self.function = function
        self.signatures: dict[tuple[Any, ...], Any] = {}
        template = type("Template", (_HelperTemplate,), {"key": self})
        self._numba_type_ = types.Function(template)

    def signature(self, arguments: tuple[Any, ...]) -> Any:
        if arguments not in self.signatures:
            self.signatures[arguments] = None  # until it is lowered
            descriptor, result = self.unit.lower(self.function, arguments)
            self.unit.target_context.insert_user_function(self, descriptor)
            self.signatures[arguments] = typing.signature(result, *arguments)
        if self.signatures[arguments] is None:
            raise KernelTextError(f"{self.function.__name__} calls itself")
        return self.signatures[arguments]


class _HelperTemplate(templates.AbstractTemplate):
    key: _Helper

    def generic(self, args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        return self.key.signature(tuple(types.unliteral(a) for a in args))


class _Library(codegen.CPUCodeLibrary):
    """Collects modules; Numba never finalises it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        if library is not self and library is not nrt.rtsys.library:
            super().add_linking_library(library)

    def link(self) -> Any:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        called = {f.name for f in self._final_module.functions if f.is_declaration}
        wrapped = [r for r in vector_math.routines() if r.callee in called]
        text = "\n".join(vector_math.wrappers(wrapped))
        self._final_module.link_in(llvm.parse_assembly(text))
        return self._final_module


class _Pipeline(compiler.CompilerBase):
    """Numba's passes from byte code to LLVM, without those that plain loops do not need."""

    def define_pipelines(self) -> list[Any]:
        passes = compiler_machinery.PassManager("parloom")
        for entry in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.GenericRewrites,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.IRLegalization,
            _Lowering,
        ):
            passes.add_pass(entry, entry.__name__)
        passes.finalize()
        return [passes]

    def _compile_core(self) -> tuple[Any, Any]:
        with targetconfig.ConfigStack().enter(self.state.flags):
            [passes] = self.define_pipelines()
            passes.run(self.state)
        return self.state.cr.fndesc, self.state.return_type


class _Lower(lowering.Lower):
    """Lowering of plain loops over arrays: direct element access, no trials of static operands."""

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        arrayty = self.typeof(value.name)
        pointer = self._element(arrayty, value, index)
        if pointer is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        item = self.context.unpack_value(self.builder, arrayty.dtype, pointer)
        return self.context.cast(self.builder, item, arrayty.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        arrayty = self.typeof(target_var.name)
        pointer = self._element(arrayty, target_var, index_var)
        if pointer is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        item = self._cast_var(value_var, arrayty.dtype)
        return self.context.pack_value(self.builder, arrayty.dtype, item, pointer)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        if op.__name__ in ("pow", "ipow"):  # a constant exponent is worth a trial
            return super().lower_binop(resty, expr, op)
        signature = self.fndesc.calltypes[expr]
        function = self.context.typing_context.resolve_value_type(op)
        typed = function.get_call_type(self.context.typing_context, signature.args, {})
        left, right = signature.args
        operands = (self._cast_var(expr.lhs, left), self._cast_var(expr.rhs, right))
        result = self.context.get_function(function, typed)(self.builder, operands)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def _element(self, arrayty: Any, array_var: Any, index_var: Any) -> Any:
        """The address of array[index], or None if this is no access to one element."""
        if not isinstance(arrayty, types.Array):
            return None
        indexty, index = self.typeof(index_var.name), self.loadvar(index_var.name)
        if isinstance(indexty, types.BaseTuple):
            kinds, values = list(indexty), cgutils.unpack_tuple(self.builder, index)
        else:
            kinds, values = [indexty], [index]
        if len(kinds) != arrayty.ndim or not all(isinstance(t, types.Integer) for t in kinds):
            return None
        indices = [
            self.context.cast(self.builder, value, kind, types.intp)
            for kind, value in zip(kinds, values, strict=True)
        ]
        array = self.loadvar(array_var.name)
        fields = self.context.data_model_manager[arrayty]._fields
        data, shape, strides = (fields.index(f) for f in ("data", "shape", "strides"))
        base = self.builder.extract_value(array, data)
        if arrayty.layout == "C":
            sizes = [self.builder.extract_value(array, [shape, k]) for k in range(arrayty.ndim)]
            return self.builder.gep(base, [self._row_major(indices, sizes)], inbounds=True)
        steps = [self.builder.extract_value(array, [strides, k]) for k in range(arrayty.ndim)]
        return cgutils.pointer_add(self.builder, base, self._dot(indices, steps))

    def _row_major(self, indices: list[Any], sizes: list[Any]) -> Any:
        offset = ir.Constant(ir.IntType(64), 0)
        for index, size in zip(indices, sizes, strict=True):
            offset = self.builder.add(self.builder.mul(offset, size, flags=("nsw",)), index)
        return offset

    def _dot(self, indices: list[Any], steps: list[Any]) -> Any:
        offset = ir.Constant(ir.IntType(64), 0)
        for index, step in zip(indices, steps, strict=True):
            offset = self.builder.add(offset, self.builder.mul(index, step, flags=("nsw",)))
        return offset


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.BaseNativeLowering):
    _name = "parloom_lowering"

    @property
    def lowering_class(self) -> type[_Lower]:
        return _Lower


def _numba_type(param: Param) -> Any:
    element = numpy_support.from_dtype(param.dtype)
    if isinstance(param, ArrayParam):
        return types.Array(element, param.ndim, param.layout)
    return element


@templates.infer_global(intrinsics.fma)
class _Fma(templates.ConcreteTemplate):
    cases = tuple(typing.signature(t, t, t, t) for t in (types.float64, types.float32))


def _lower_fma(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
    return builder.fma(*arguments)


for _real in (types.float64, types.float32):
    imputils.lower_builtin(intrinsics.fma, _real, _real, _real)(_lower_fma)


def _add_routines(function: Any, routines: Sequence[vector_math.Routine]) -> None:
    """A function of the C library, by its routines."""
    signatures = {r: (getattr(types, r.dtype),) * (1 + r.arity) for r in routines}
    cases = tuple(typing.signature(*s) for s in signatures.values())
    template = type("_Routines", (templates.ConcreteTemplate,), {"cases": cases})
    templates.infer_global(function)(template)
    for r, (_, *arguments) in signatures.items():
        imputils.lower_builtin(function, *arguments)(_calls(r))


def _calls(routine: vector_math.Routine) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        real = context.get_value_type(signature.return_type)
        type_ = ir.FunctionType(real, [real] * routine.arity)
        callee = cgutils.get_or_insert_function(builder.module, type_, routine.callee)
        if not routine.lanes:  # a wrapper has its attributes where it is defined
            for attribute in ("nobuiltin", "nounwind", "readnone"):
                callee.attributes.add(attribute)
        return builder.call(callee, arguments)

    return lower


for _called, _function in transcendental.FUNCTIONS.items():
    _add_routines(_function, vector_math.routines_of(transcendental.NAMES[_called]))
