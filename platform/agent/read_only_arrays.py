"""NumPy arrays that are only read: those from other processes, and views of one's own."""

from __future__ import annotations

import warnings

from interplay.agent.observation import Arrays


def read_only(arrays: Arrays) -> Arrays:
    """Views that raise an error where they are changed, as arrays from another process do."""
    views = {key: array.view() for key, array in arrays.items()}
    for view in views.values():
        view.flags.writeable = False
    return views


def accept_read_only_arrays() -> None:
    """Silences torch's warning about tensors of read-only arrays in this process, whose code only reads them."""
    warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
