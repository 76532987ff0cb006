"""The pool of threads as native code sees it: its record, laid out here for Python and for LLVM."""

from __future__ import annotations

import ctypes

MOST = 1024  # workers, the caller included

# `state`: bit 30 while the pool is open, and how many workers are inside.
OPEN = 1 << 30


class Worker(ctypes.Structure):
    """A thread. The records of its mutex and condition variable are larger than any system's.

    ticket : counts how often it was woken
    sleeps : whether it waits for its condition variable
    """

    _fields_ = [
        ("pool", ctypes.c_void_p),
        ("index", ctypes.c_int64),
        ("handle", ctypes.c_void_p),
        ("ticket", ctypes.c_int64),
        ("sleeps", ctypes.c_int64),
        ("line", ctypes.c_int64 * 3),
        ("mutex", ctypes.c_int64 * 16),
        ("condition", ctypes.c_int64 * 16),
    ]


class Pool(ctypes.Structure):
    """The pool.

    busy : whether a launch has it
    state : see `OPEN`
    threads : how many there are beside the caller
    closing : set to end the threads
    forked : set in a child process, which has none of these threads
    job : what the workers inside work at
    """

    _fields_ = [
        ("busy", ctypes.c_int64),
        ("state", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("closing", ctypes.c_int64),
        ("forked", ctypes.c_int64),
        ("job", ctypes.c_void_p),
        ("line", ctypes.c_int64 * 2),
        ("workers", Worker * MOST),
    ]
