"""The encoder process: turns raw pictures on its standard input into an MP4 (H.264).

`interplay.video.writer` starts it as `python -m interplay.video.encode`. It imports little but the encoder, so it
starts quickly, and a crash of the encoder does not end the drawing process. If the input ends early, for example
because the drawing process was stopped, no file is left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
from numpy.typing import NDArray

from interplay.video.writer import EncoderJob, partial_path

CODEC, PIXELS = "libx264", "yuv420p"  # supported by every player and browser
QUALITY = {"crf": "20", "preset": "veryfast"}
KEYFRAME_INTERVAL_SECONDS = 2  # players can only seek to keyframes


class InputEnded(Exception):
    """The input ended before the last picture of the job."""


def encode(source: BinaryIO, path: Path, job: EncoderJob) -> None:
    """Encodes the concatenated pictures of `source` as a video at `path`.

    Raises:
        InputEnded: `source` ended before the last picture; no file is written then.
    """
    partial = partial_path(path)
    try:
        with av.open(str(partial), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = container.add_stream(CODEC, rate=job.rate, options=QUALITY)
            assert isinstance(stream, av.VideoStream)
            stream.height, stream.width, stream.pix_fmt = job.height, job.width, PIXELS
            stream.gop_size = max(1, round(KEYFRAME_INTERVAL_SECONDS * job.rate))
            stream.thread_count = 1  # drawing uses the other core
            for number, picture in enumerate(_pictures(source, job)):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = number, 1 / job.rate
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _pictures(source: BinaryIO, job: EncoderJob) -> Iterator[NDArray[np.uint8]]:
    for number in range(job.frames):
        data = source.read(job.picture_bytes)
        if len(data) < job.picture_bytes:
            raise InputEnded(f"the input ended within picture {number + 1} of {job.frames}")
        yield np.frombuffer(data, np.uint8).reshape(job.height, job.width, 3)


if __name__ == "__main__":
    encode(sys.stdin.buffer, Path(sys.argv[1]), EncoderJob.from_arguments(sys.argv[2:]))
