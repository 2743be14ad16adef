"""Arrays of files are read in several threads at once."""

from __future__ import annotations

import gc
import io
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from interplay.core.stored_arrays import read_array, read_arrays


@pytest.fixture
def collections_that_switch_threads() -> Iterator[None]:
    """Collects garbage all the time, each time after another thread had its turn, as a busy process may."""

    def switch(*_: object) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(switch)
    gc.set_threshold(3, 1, 1)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(switch)


def npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


@pytest.mark.usefixtures("collections_that_switch_threads")
def test_threads_that_read_at_the_same_time_do_not_disturb_each_other() -> None:
    array, errors = np.arange(60, dtype=np.uint8).reshape(3, 4, 5), list[Exception]()
    several = io.BytesIO()
    np.savez(several, array=array)

    def read_often(turn: int) -> None:
        try:
            for number in range(60):
                one = np.zeros((number, 1, 1, turn), np.uint8)  # a header of its own, which was not parsed before
                assert (read_array(npy(one)) == one).all()
                assert (read_arrays(io.BytesIO(several.getvalue()))["array"] == array).all()
        except (AssertionError, SystemError) as error:
            errors.append(error)

    def at_depth(depth: int, act: Callable[[], None]) -> None:
        """Runs `act` that many calls deep; the defect of Python 3.11 needs threads of different depths."""
        if depth:
            at_depth(depth - 1, act)
        else:
            act()

    threads = [threading.Thread(target=at_depth, args=(20 * turn, partial(read_often, turn))) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_one_array_is_not_a_file_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "one.npz").write_bytes(npy(np.zeros(2)))
    with pytest.raises(ValueError, match="one array"):
        read_arrays(tmp_path / "one.npz")


@pytest.mark.parametrize("repeat", range(2))  # the second time the header is known
@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.asfortranarray(np.arange(12, dtype=np.int8).reshape(3, 4)),
        np.arange(24, dtype=">i2").reshape(2, 3, 4),
        np.zeros((0, 5), np.float32),
        np.array(7.0),
        np.array(["a", "word"]),
    ],
)
def test_an_array_is_what_numpy_reads(array: NDArray[Any], repeat: int) -> None:
    data = npy(array)
    ours, theirs = read_array(data + b"more" * repeat), np.load(io.BytesIO(data))
    assert (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
    assert ours.flags.c_contiguous == theirs.flags.c_contiguous
    assert ours.flags.writeable


def test_an_array_of_a_later_format_is_read() -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.arange(3), version=(2, 0))
    assert read_array(stream.getvalue()).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text that is not an array",
        npy(np.arange(3)).replace(b"NUMPY", b"OTHER"),
        npy(np.arange(3))[:-1],
        npy(np.arange(3))[:40],
        npy(np.arange(3)).replace(b"(3,), } ", b"(-3,), }"),
        npy(np.arange(3)).replace(b"(3,)", b"(9,)"),
        npy(np.array([{}])),
    ],
)
def test_what_is_not_a_plain_array_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_array(data)
