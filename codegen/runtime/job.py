"""A launch as native code sees it: one record, laid out here for Python and for LLVM.

`values` is a row of 64-bit slots, one for each thing that the kernel's functions take: addresses,
sizes, scalars by their bits (native.py). A function's table is gathered from it. Some places hold
another value for each chunk or each worker; a `Patch` says which, and by how much.
"""

from __future__ import annotations

import ctypes

Slots = ctypes.Array[ctypes.c_int64]


class Patch(ctypes.Structure):
    """`values[place] + number * stride`, but at most `limit`, for a chunk or worker `number`."""

    _fields_ = [
        ("place", ctypes.c_int64),
        ("stride", ctypes.c_int64),
        ("limit", ctypes.c_int64),
    ]


class Patches(ctypes.Structure):
    """A row of patches."""

    _fields_ = [("count", ctypes.c_int64), ("first", ctypes.c_void_p)]


class Step(ctypes.Structure):
    """A function of the kernel: its address, 0 if it has nothing to do, and the places in `values`
    of its table's slots."""

    _fields_ = [
        ("address", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("places", ctypes.c_void_p),
    ]


class Job(ctypes.Structure):
    """One launch.

    next : the chunk that is taken next; alone in its cache line
    chunks, workers : how many there are, the caller among the workers
    phase, combined, shared : how far it is, for the caller's thread alone
    stop : set to end it after the chunks that run
    faulted : whether some function recorded a fault
    began, spent : when it began, and in the end how long it took, in nanoseconds
    count, values : the row of values
    table : the most slots that a function takes
    fault : the place in `values` of the address of the fault record
    parts : what differs between chunks
    others : what differs between the chunks whose state is combined into that of chunk 0
    scratch : what differs between workers
    """

    _fields_ = [
        ("next", ctypes.c_int64),
        ("line", ctypes.c_int64 * 7),
        ("chunks", ctypes.c_int64),
        ("workers", ctypes.c_int64),
        ("phase", ctypes.c_int64),
        ("combined", ctypes.c_int64),
        ("shared", ctypes.c_int64),
        ("stop", ctypes.c_int64),
        ("faulted", ctypes.c_int64),
        ("began", ctypes.c_int64),
        ("spent", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("values", ctypes.c_void_p),
        ("table", ctypes.c_int64),
        ("fault", ctypes.c_int64),
        ("parts", Patches),
        ("others", Patches),
        ("scratch", Patches),
        ("init", Step),
        ("chunk", Step),
        ("combine", Step),
        ("finish", Step),
    ]
