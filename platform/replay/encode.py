"""The side process that turns raw pictures on its standard input into an MP4 (H.264).

`interplay.replay.video` starts it as `python -m interplay.replay.encode`. It imports little but the encoder, so it
starts at once, and its crash is not the drawing's. An input that ends early, as when the drawing was stopped, leaves
nothing behind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
from numpy.typing import NDArray

from interplay.replay.encoder_job import EncoderJob, unfinished

CODEC, PIXELS = "libx264", "yuv420p"  # what every player and browser shows
QUALITY = {"crf": "20", "preset": "veryfast"}
KEY_SECONDS = 2  # between pictures that a player can jump to


class EndedEarly(Exception):
    """Fewer pictures came than were announced."""


def encode(source: BinaryIO, path: Path, announced: EncoderJob) -> None:
    """Writes the pictures that `source` holds, one after another, as a video at `path`.

    Raises:
        EndedEarly: `source` ended before the last picture; there is no file then.
    """
    growing = unfinished(path)
    try:
        with av.open(str(growing), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = container.add_stream(CODEC, rate=announced.rate, options=QUALITY)
            assert isinstance(stream, av.VideoStream)
            stream.height, stream.width, stream.pix_fmt = announced.height, announced.width, PIXELS
            stream.gop_size = max(1, round(KEY_SECONDS * announced.rate))
            stream.thread_count = 1  # the other core draws
            for number, picture in enumerate(_pictures(source, announced)):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = number, 1 / announced.rate
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        growing.replace(path)
    finally:
        growing.unlink(missing_ok=True)


def _pictures(source: BinaryIO, announced: EncoderJob) -> Iterator[NDArray[np.uint8]]:
    for number in range(announced.frames):
        data = source.read(announced.picture_bytes)
        if len(data) < announced.picture_bytes:
            raise EndedEarly(f"the input ended within picture {number + 1} of {announced.frames}")
        yield np.frombuffer(data, np.uint8).reshape(announced.height, announced.width, 3)


if __name__ == "__main__":
    encode(sys.stdin.buffer, Path(sys.argv[1]), EncoderJob.read(sys.argv[2:]))
