"""Build the wheel, install it in a clean environment, and import it far from the sources.

The package folders are links in the repository; the wheel must hold real modules instead.
"""

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("staging", "patterns", "transforms", "codegen", "dsls")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "parloom", *FOLDERS)


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command that speaks only when it fails."""
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def copy_sources(target: Path) -> None:
    """Copy what the wheel is made of: a build in the repository could pick up stale files."""
    target.mkdir()
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, symlinks=True, ignore=ignore)
        elif source.exists():
            shutil.copy2(source, target / name)


def modules_missing_from(wheel: Path) -> list[str]:
    """Name the modules of the five folders that the wheel lacks."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    wanted = [
        f"parloom/{file.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
    ]
    return sorted(set(wanted) - packed | {"parloom/py.typed"} - packed)


def main() -> None:
    """Build, look inside, install, import."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        copy_sources(work / "source")
        run(
            sys.executable, "-m", "build", "--wheel", "--outdir", work / "dist", cwd=work / "source"
        )
        (wheel,) = (work / "dist").glob("*.whl")
        if missing := modules_missing_from(wheel):
            sys.exit(f"{wheel.name} lacks {', '.join(missing)}: is an __init__.py missing?")
        venv.create(work / "clean", with_pip=True)
        python = work / "clean" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=work)
        imports = ", ".join(["parloom", *(f"parloom.{folder}" for folder in FOLDERS)])
        run(python, "-I", "-W", "error", "-c", f"import {imports}", cwd=work)
        print(f"{wheel.name}: built, installed and imported")


if __name__ == "__main__":
    main()
