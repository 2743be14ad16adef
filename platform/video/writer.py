"""Writes a video through an encoder process, so that drawing and encoding overlap::

    drawing  | draw 1 | draw 2   | draw 3   |
    encoder  |        | encode 1 | encode 2 | encode 3 |

The pipe between them holds less than one picture, so the drawing is at most one picture ahead.
"""

from __future__ import annotations

import importlib.util
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class EncoderJob:
    """A video to encode: `frames` pictures, uint8 [height, width, 3], `rate` per second; both sides are even."""

    height: int
    width: int
    rate: Fraction
    frames: int

    @property
    def picture_bytes(self) -> int:
        """Size of one picture in bytes."""
        return self.height * self.width * 3

    def to_arguments(self) -> list[str]:
        """Returns the command-line arguments of the encoder process."""
        return [str(self.height), str(self.width), str(self.rate), str(self.frames)]

    @classmethod
    def from_arguments(cls, arguments: list[str]) -> EncoderJob:
        """Reads the arguments that `to_arguments` returned."""
        height, width, rate, frames = arguments
        return cls(int(height), int(width), Fraction(rate), int(frames))


def partial_path(path: Path) -> Path:
    """The path that a video is written to until it is complete."""
    return path.with_name(f".tmp-{path.name}")


STALLED_SECONDS = 60.0  # an encoder that reads nothing for this long is considered hung
CLEANUP_SECONDS = 5.0  # given to a stopped encoder to delete its partial file


class EncoderFailed(RuntimeError):
    """The encoder process died or hangs; the message includes its stderr."""


def require_encoder() -> None:
    """Raises ModuleNotFoundError with the command to type if the encoder's package is not installed."""
    if importlib.util.find_spec("av") is None:
        raise ModuleNotFoundError(
            "a replay is encoded by the package 'av', which is not installed; type in the checkout: "
            "pip install '.[video]'",
            name="av",
        )


def write_video(path: Path, pictures: Iterable[NDArray[np.uint8]], job: EncoderJob) -> None:
    """Writes `pictures` as an MP4 at `path`, which appears only when the video is complete.

    Raises:
        EncoderFailed: the encoder did not accept every picture. No file is left, nor is one if drawing fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "interplay.video.encode", str(path), *job.to_arguments()]
    with tempfile.TemporaryFile() as stderr:
        # In its own session the encoder does not receive Ctrl-C; it ends when its input ends.
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr, bufsize=0, start_new_session=True)
        assert encoder.stdin is not None
        try:
            _send_all(encoder.stdin, pictures, job)
            encoder.stdin.close()
            if encoder.wait(STALLED_SECONDS) != 0:
                raise EncoderFailed(_failure_message(encoder, stderr))
        except BrokenPipeError as error:
            encoder.wait(STALLED_SECONDS)
            raise EncoderFailed(_failure_message(encoder, stderr)) from error
        except subprocess.TimeoutExpired as error:
            raise EncoderFailed(f"the encoder has not ended {STALLED_SECONDS:g} s after the last picture") from error
        finally:
            _end(encoder)
            partial_path(path).unlink(missing_ok=True)


def rate(pictures_per_second: float) -> Fraction:
    """The nearest frame rate that the container can store."""
    return Fraction(pictures_per_second).limit_denominator(1001)


def _send_all(pipe: IO[bytes], pictures: Iterable[NDArray[np.uint8]], job: EncoderJob) -> None:
    os.set_blocking(pipe.fileno(), False)
    sent = 0
    for picture in pictures:
        assert picture.shape == (job.height, job.width, 3) and picture.dtype == np.uint8, picture.shape
        _send(pipe.fileno(), np.ascontiguousarray(picture).data.cast("B"))
        sent += 1
    assert sent == job.frames, f"the job has {job.frames} pictures, {sent} were drawn"


def _send(pipe: int, data: memoryview) -> None:
    while data:
        _, ready, _ = select.select([], [pipe], [], STALLED_SECONDS)
        if not ready:
            raise EncoderFailed(f"the encoder has taken nothing for {STALLED_SECONDS:g} s")
        data = data[os.write(pipe, data) :]


def _failure_message(encoder: subprocess.Popen[bytes], stderr: IO[bytes]) -> str:
    stderr.seek(0)
    output = stderr.read().decode(errors="replace").strip()
    code = encoder.returncode
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"the encoder {how} before the video was complete; its output:\n{output or '(nothing)'}"


def _end(encoder: subprocess.Popen[bytes]) -> None:
    """Closes the encoder's input and waits for it to end; kills it if it does not."""
    assert encoder.stdin is not None
    encoder.stdin.close()
    try:
        encoder.wait(CLEANUP_SECONDS)
    except subprocess.TimeoutExpired:
        encoder.kill()
        encoder.wait(CLEANUP_SECONDS)
