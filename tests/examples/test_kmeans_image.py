"""The demo on a small picture, as a user would run it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "kmeans_image.py"
HEIGHT, WIDTH = 12, 20


@pytest.fixture(name="picture")
def picture_fixture(tmp_path: Path) -> Path:
    """Reddish pixels on the left, bluish ones on the right, a little noise on both."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    pixels[:, : WIDTH // 2] = (200, 40, 30)
    pixels[:, WIDTH // 2 :] = (20, 50, 190)
    pixels += np.random.default_rng(5).integers(0, 30, pixels.shape, np.uint8)
    path = tmp_path / "picture.png"
    Image.fromarray(pixels).save(path)
    return path


def run(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", SCRIPT, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        text=True,
        capture_output=True,
        check=False,
    )


def halves(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The picture before and after."""
    with Image.open(path) as image:
        assert image.format == "PNG"
        both = np.asarray(image)
    assert both.shape == (HEIGHT, 2 * WIDTH, 3)
    return both[:, :WIDTH], both[:, WIDTH:]


def colours(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.unique(pixels.reshape(-1, 3), axis=0)


def test_two_colours_are_left_and_each_half_keeps_its_own(picture: Path, tmp_path: Path) -> None:
    done = run(tmp_path, picture, "-k", "2")
    assert done.returncode == 0, done.stderr
    assert f"{WIDTH} x {HEIGHT} pixels, 2 colours" in done.stdout
    assert "parloom is" in done.stdout
    assert "with the same centroids" in done.stdout
    assert "wrote kmeans_colours.png" in done.stdout
    assert "loops over the pixels: 4 as written, 1 as compiled" in done.stdout
    before, after = halves(tmp_path / "kmeans_colours.png")
    with Image.open(picture) as image:
        np.testing.assert_array_equal(before, np.asarray(image))
    assert len(colours(after)) == 2
    left, right = after[:, : WIDTH // 2], after[:, WIDTH // 2 :]
    assert len(colours(left)) == len(colours(right)) == 1
    mean = before[:, : WIDTH // 2].reshape(-1, 3).mean(axis=0)
    np.testing.assert_array_equal(left[0, 0], np.rint(mean))


def test_a_run_without_numpy_under_another_name(picture: Path, tmp_path: Path) -> None:
    done = run(tmp_path, picture, "--colours", "5", "--no-compare", "--output", "five.png")
    assert done.returncode == 0, done.stderr
    assert "NumPy" not in done.stdout
    assert len(colours(halves(tmp_path / "five.png")[1])) == 5


def test_one_iteration_of_one_colour_is_the_mean(picture: Path, tmp_path: Path) -> None:
    done = run(tmp_path, picture, "-k", "1", "--max-iter", "1")
    assert done.returncode == 0, done.stderr
    assert "parloom: 1 iterations" in done.stdout
    before, after = halves(tmp_path / "kmeans_colours.png")
    mean = before.reshape(-1, 3).mean(axis=0)
    np.testing.assert_array_equal(colours(after), [np.rint(mean)])


def test_explain_prints_every_stage(picture: Path, tmp_path: Path) -> None:
    done = run(tmp_path, picture, "-k", "2", "--explain")
    assert done.returncode == 0, done.stderr
    for part in ("staged", "fused", "decisions", "def "):
        assert part in done.stdout


def test_a_palette_picture_with_transparency_is_read(picture: Path, tmp_path: Path) -> None:
    with Image.open(picture) as image:
        image.convert("RGBA").quantize(8).save(tmp_path / "palette.png")
    done = run(tmp_path, "palette.png", "-k", "2")
    assert done.returncode == 0, done.stderr
    assert len(colours(halves(tmp_path / "kmeans_colours.png")[1])) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent.png",), "[Errno 2] No such file or directory: 'absent.png'"),
        ((".",), "[Errno 21] Is a directory: '.'"),
        (("notes.txt",), "cannot identify image file 'notes.txt'"),
        (("picture.png", "-k", "0"), "--colours must be from 1 to 239 for this picture, not 0"),
        (("picture.png", "-k", "240"), "--colours must be from 1 to 239 for this picture, not 240"),
        (
            ("picture.png", "-k", "2", "--output", "absent/after.png"),
            "[Errno 2] No such file or directory: 'absent/after.png'",
        ),
    ],
)
def test_unusable_input_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, picture: Path, tmp_path: Path
) -> None:
    assert picture.parent == tmp_path
    (tmp_path / "notes.txt").write_text("not a picture", encoding="utf-8")
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stderr == f"kmeans_image: error: {message}\n"
    assert not (tmp_path / "kmeans_colours.png").exists()
