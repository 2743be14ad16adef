"""Errors of a process that may not allocate more memory: libraries raise many kinds, and few name the cause."""

from __future__ import annotations

import errno
import re
import resource
from collections.abc import Iterator

# Messages of errors that are neither a `MemoryError` nor an `OSError` with ENOMEM, such as those of torch and MuJoCo.
TEXTS = re.compile(
    "(can't|cannot|could not|unable to) allocate (memory|more memory|[0-9.]+ [KMGT]i?B)"
    "|could not create a (primitive|memory object)$"
    "|failed to map segment|can't start new thread|std::bad_alloc|out of memory",
    re.IGNORECASE,
)
ANY_STAGE = "lower the lanes, the steps of an unroll or the workers of the stage that was running"


def out_of_memory_line(command: str, error: BaseException, remedy: str = ANY_STAGE) -> str:
    """The last line to show after an error that lack of memory caused; empty after any other.

    Args:
        command: as typed, without its settings.
        remedy: what to change so that the command needs less memory.
    """
    if not any(_is_out_of_memory(each) for each in _chain(error)):
        return ""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    allowed = "" if limit == resource.RLIM_INFINITY else f" (ulimit -v allows a process {limit / 1e9:.1f} GB; raise it)"
    return (
        f"{command}: memory ran out{allowed}. What is saved is kept, and the same command continues; so that it needs "
        f"less, {remedy}\n"
    )


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return TEXTS.search(str(error)) is not None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it was raised from, or while they were handled."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
