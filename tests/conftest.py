"""What holds for all tests."""

from __future__ import annotations

import os
import signal

from parloom.codegen import cache_folder


def pytest_configure() -> None:
    """Where no disk cache can be had, the tests do without: its warning would be an error.

    Ctrl-C is Python's, also where the tests run in the background and a shell has it ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with cache_folder.opened() as folder:
            folder.write("probe", b"")
            folder.remove("probe")
    except OSError:
        os.environ["PARLOOM_CACHE"] = "0"
