"""Arrays of files are read in several threads at once."""

from __future__ import annotations

import gc
import io
import threading
import time
from collections.abc import Callable, Iterator
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
    one, several = npy(array), io.BytesIO()
    np.savez(several, array=array)

    def read_often() -> None:
        try:
            for _ in range(60):
                assert (read_array(one) == array).all()
                assert (read_arrays(io.BytesIO(several.getvalue()))["array"] == array).all()
        except (AssertionError, SystemError) as error:
            errors.append(error)

    def at_depth(depth: int, act: Callable[[], None]) -> None:
        """Runs `act` that many calls deep; the defect of Python 3.11 needs threads of different depths."""
        if depth:
            at_depth(depth - 1, act)
        else:
            act()

    threads = [threading.Thread(target=at_depth, args=(20 * number, read_often)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_one_array_is_no_file_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "one.npz").write_bytes(npy(np.zeros(2)))
    with pytest.raises(ValueError, match="one array"):
        read_arrays(tmp_path / "one.npz")
