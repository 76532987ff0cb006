"""Every Python block of README.md, CONTRIBUTING.md and docs/*.md runs.

The blocks of one file share a namespace and run in order, in a fresh interpreter and an empty
folder. A block is left out when the line before it is ``<!-- no-run -->``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]


def script_of(page: str) -> str:
    """Blank every line of a page that is not in a Python block, so that line numbers stay."""
    lines: list[str] = []
    fence, runs, before = "", False, ""
    for line in page.splitlines():
        opens = not fence and line.startswith("```")
        closes = bool(fence) and line.strip() == fence
        lines.append(line if fence and runs and not closes else "")
        if opens:
            fence = line[: len(line) - len(line.lstrip("`"))]
            runs = line.strip("` ") == "python" and before != "<!-- no-run -->"
        elif closes:
            fence = ""
        before = line.strip()
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    script = tmp_path / f"{page.stem}.py"
    script.write_text(script_of(page.read_text(encoding="utf-8")), encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"{page.relative_to(ROOT)}, same line:\n{done.stderr}"


def test_script_keeps_line_numbers_and_leaves_out_what_is_marked() -> None:
    page = """\
Text
```python
a = 1
```
```console
$ make demo
```
<!-- no-run -->
```python
raise SystemExit
```
````python
b = '''
```
'''
````
"""
    assert script_of(page).splitlines() == [
        *["", "", "a = 1", "", "", "", "", "", "", "", "", ""],
        *["b = '''", "```", "'''", ""],
    ]
