"""Results that Ray cannot hand over, in a process without memory."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any

import ray

from interplay.runtime.ray import completions

ray.cloudpickle.register_pickle_by_value(
    sys.modules[__name__]
)  # the workers' processes cannot import the tests' modules

TIMEOUT_SECONDS = 120.0
NEVER = 600.0  # seconds until calls that end at once have ended


class Answering:
    """Answers calls at once."""

    def answer(self) -> str:
        return "done"


class Starved:
    """Awaits calls, the second of them once its process can allocate no more memory."""

    def await_calls(self, answering: Any) -> list[str]:
        completions.LOST_CHECK_SECONDS, found = 0.1, list[str]()
        awaited = completions.Completions()
        awaited.watch(answering.answer.remote(), lambda: found.append("handled"))
        awaited.handle_ended(NEVER)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
        awaited.watch(answering.answer.remote(), lambda: found.append("handled"))
        try:
            while awaited.watched:
                awaited.handle_ended(timeout=0.1)
        except MemoryError as error:
            found.append(str(error))
        return found


def test_a_result_that_cannot_be_handed_over_is_an_error(ray_cluster: None) -> None:
    """Otherwise the process would wait for it, and healthy workers would be restarted."""
    decorate: Any = ray.remote
    answering, starved = (decorate(num_cpus=0.1)(each).remote() for each in (Answering, Starved))
    found = ray.get(starved.await_calls.remote(answering), timeout=TIMEOUT_SECONDS)
    assert found == ["handled", "a result has arrived, and Ray could not hand it over to this process"]
    for actor in (answering, starved):
        ray.kill(actor)
