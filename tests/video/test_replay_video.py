"""The encoder and its process: whole videos, or a clear failure and nothing left behind."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from interplay.video import writer
from interplay.video.encode import InputEnded, encode
from interplay.video.writer import EncoderFailed, EncoderJob, partial_path, rate, require_encoder, write_video

SMALL = EncoderJob(height=48, width=64, rate=Fraction(15, 4), frames=9)
LONG = replace(SMALL, frames=120)  # so long that the file has begun before all pictures have come


def pictures(job: EncoderJob = SMALL) -> Iterator[NDArray[np.uint8]]:
    """Each grey, and lighter than the one before."""
    for number in range(job.frames):
        yield np.full((job.height, job.width, 3), 20 + 20 * (number % 10), np.uint8)


def decoded(path: Path) -> list[NDArray[np.uint8]]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_a_video_holds_every_picture_at_its_size_and_rate(tmp_path: Path) -> None:
    path = tmp_path / "new" / "clip.mp4"
    write_video(path, pictures(), SMALL)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt) == ("h264", "yuv420p")
        assert (stream.height, stream.width, stream.frames) == (48, 64, 9)
        assert stream.average_rate == Fraction(15, 4)
        assert container.duration == pytest.approx(9 / 3.75 * av.time_base, rel=0.01)
    means = [float(frame.mean()) for frame in decoded(path)]
    assert means == pytest.approx([20 + 20 * number for number in range(9)], abs=3)
    assert [file.name for file in path.parent.iterdir()] == ["clip.mp4"]


def test_an_older_video_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"old")
    write_video(path, pictures(), SMALL)
    assert len(decoded(path)) == 9


def test_what_the_encoder_raises_is_told(tmp_path: Path) -> None:
    odd = EncoderJob(height=47, width=63, rate=Fraction(4), frames=200)  # this kind of video has even sides
    with pytest.raises(EncoderFailed, match=r"exit code 1 .*(.|\n)*Traceback(.|\n)*av\.error") as raised:
        write_video(tmp_path / "clip.mp4", pictures_of(odd), odd)
    assert "encode.py" in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_fails_at_the_very_end_is_told(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.mkdir()
    with pytest.raises(EncoderFailed, match="IsADirectoryError"):
        write_video(path, pictures(), SMALL)
    assert list(tmp_path.iterdir()) == [path]


def pictures_of(job: EncoderJob) -> Iterator[NDArray[np.uint8]]:
    for _ in range(job.frames):
        yield np.zeros((job.height, job.width, 3), np.uint8)


def children() -> set[int]:
    """The processes that this one has started and that still run."""
    return {int(word) for word in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()}


def test_a_killed_encoder_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    before, path = children(), tmp_path / "clip.mp4"

    def killing() -> Iterator[NDArray[np.uint8]]:
        for number, picture in enumerate(pictures(LONG)):
            yield picture
            if number == 100:
                assert partial_path(path).exists()
                (encoder,) = children() - before
                os.kill(encoder, signal.SIGKILL)

    with pytest.raises(EncoderFailed, match="killed by signal 9"):
        write_video(path, killing(), LONG)
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_takes_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped by a signal, it neither takes pictures nor dies by itself."""
    monkeypatch.setattr(writer, "STALLED_SECONDS", 0.2)
    monkeypatch.setattr(writer, "CLEANUP_SECONDS", 0.1)
    before = children()
    large = EncoderJob(height=480, width=640, rate=Fraction(4), frames=4)  # more than a pipe holds

    def stopping() -> Iterator[NDArray[np.uint8]]:
        (encoder,) = children() - before
        os.kill(encoder, signal.SIGSTOP)
        yield from pictures_of(large)

    with pytest.raises(EncoderFailed, match="taken nothing for"):
        write_video(tmp_path / "clip.mp4", stopping(), large)
    assert children() == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stopped_by", [KeyboardInterrupt, ZeroDivisionError])
def test_a_drawing_that_stops_leaves_nothing(tmp_path: Path, stopped_by: type[BaseException]) -> None:
    before, path = children(), tmp_path / "clip.mp4"

    def stopping() -> Iterator[NDArray[np.uint8]]:
        yield from [picture for picture, _ in zip(pictures(LONG), range(100), strict=False)]
        assert partial_path(path).exists()
        raise stopped_by

    with pytest.raises(stopped_by):
        write_video(path, stopping(), LONG)
    assert not list(tmp_path.iterdir())
    assert children() == before


def test_an_input_that_ends_early_leaves_nothing(tmp_path: Path) -> None:
    """As when the drawing process was killed and could clean up nothing itself."""
    data = b"".join(picture.tobytes() for picture in pictures(LONG))[:-1]
    path = tmp_path / "clip.mp4"
    with pytest.raises(InputEnded, match="picture 120 of 120"):
        encode(io.BytesIO(data), path, LONG)
    assert not list(tmp_path.iterdir())
    encode(io.BytesIO(data + b"\0"), path, LONG)
    assert len(decoded(path)) == 120
    assert list(tmp_path.iterdir()) == [path]


def test_rates_are_exact() -> None:
    assert rate(30 / 8) == Fraction(15, 4)
    assert rate(2 * 30 / 8) == Fraction(15, 2)
    assert rate(1 / (1 / 3)) == 3


def test_without_the_encoders_package_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    require_encoder()
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[video\]'"):
        require_encoder()
