"""What holds for all tests."""

from __future__ import annotations

import os

from parloom.codegen import cache_folder


def pytest_configure() -> None:
    """Where no disk cache can be had, the tests do without: its warning would be an error."""
    try:
        with cache_folder.opened() as folder:
            folder.write("probe", b"")
            folder.remove("probe")
    except OSError:
        os.environ["PARLOOM_CACHE"] = "0"
