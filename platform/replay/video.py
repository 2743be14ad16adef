"""Writes a video through an encoder in a process of its own, so that drawing and encoding overlap::

    here     | draw 1 | draw 2   | draw 3   |
    encoder  |        | encode 1 | encode 2 | encode 3 |

The pipe between them holds less than one picture, which bounds what waits: the drawing is one picture ahead.
"""

from __future__ import annotations

import importlib.util
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from interplay.replay.encoder_job import EncoderJob, unfinished

STALLED_SECONDS = 60.0  # an encoder that takes no picture for so long takes none any more
ENDING_SECONDS = 5.0  # that a stopped encoder gets to clean up after itself


class EncoderFailed(RuntimeError):
    """The encoder died or hangs; the message holds what it said."""


def need_encoder() -> None:
    """Raises ModuleNotFoundError, saying what to type, where the encoder's package is not installed."""
    if importlib.util.find_spec("av") is None:
        raise ModuleNotFoundError(
            "a replay is encoded by the package 'av', which is not installed; type in the checkout: "
            "pip install '.[video]'",
            name="av",
        )


def write_video(path: Path, pictures: Iterable[NDArray[np.uint8]], announced: EncoderJob) -> None:
    """Writes `pictures`, as announced, as an MP4 at `path`. Until it is whole there is nothing under that name.

    Raises:
        EncoderFailed: the encoder did not take every picture. Nothing is left behind then, nor where drawing fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "interplay.replay.encode", str(path), *announced.words()]
    with tempfile.TemporaryFile() as said:
        # In a session of its own Ctrl-C does not reach the encoder: it ends when its input does.
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said, bufsize=0, start_new_session=True)
        assert encoder.stdin is not None
        try:
            _send_all(encoder.stdin, pictures, announced)
            encoder.stdin.close()
            if encoder.wait(STALLED_SECONDS) != 0:
                raise EncoderFailed(_told(encoder, said))
        except BrokenPipeError as error:
            encoder.wait(STALLED_SECONDS)
            raise EncoderFailed(_told(encoder, said)) from error
        except subprocess.TimeoutExpired as error:
            raise EncoderFailed(f"the encoder does not end, {STALLED_SECONDS:g} s after the last picture") from error
        finally:
            _end(encoder)
            unfinished(path).unlink(missing_ok=True)


def rate(pictures_per_second: float) -> Fraction:
    """The nearest rate that a video can have."""
    return Fraction(pictures_per_second).limit_denominator(1001)


def _send_all(pipe: IO[bytes], pictures: Iterable[NDArray[np.uint8]], announced: EncoderJob) -> None:
    os.set_blocking(pipe.fileno(), False)
    sent = 0
    for picture in pictures:
        assert picture.shape == (announced.height, announced.width, 3) and picture.dtype == np.uint8, picture.shape
        _send(pipe.fileno(), np.ascontiguousarray(picture).data.cast("B"))
        sent += 1
    assert sent == announced.frames, f"{announced.frames} pictures were announced, {sent} came"


def _send(pipe: int, data: memoryview) -> None:
    while data:
        _, ready, _ = select.select([], [pipe], [], STALLED_SECONDS)
        if not ready:
            raise EncoderFailed(f"the encoder has taken nothing for {STALLED_SECONDS:g} s")
        data = data[os.write(pipe, data) :]


def _told(encoder: subprocess.Popen[bytes], said: IO[bytes]) -> str:
    said.seek(0)
    words = said.read().decode(errors="replace").strip()
    code = encoder.returncode
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"the encoder {how} before the video was whole; it said:\n{words or '(nothing)'}"


def _end(encoder: subprocess.Popen[bytes]) -> None:
    """Lets the encoder see the end of its input, and makes sure that it has ended."""
    assert encoder.stdin is not None
    encoder.stdin.close()
    try:
        encoder.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        encoder.kill()
        encoder.wait(ENDING_SECONDS)
