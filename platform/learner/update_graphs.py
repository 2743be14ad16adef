"""Updates recorded once as CUDA graphs and then replayed: one launch for all kernels of an update.

    inputs --copy--> static buffers --replay--> results, which stay where they are until the next replay

A graph reads and writes fixed addresses and has fixed shapes, so each form of the inputs (their names, shapes and
dtypes) has a graph of its own. The first updates of a form run without one, which compiles and loads its kernels and
makes the state of the optimizer. They are updates like all others: none is repeated or lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor

from interplay.learner.gradient import UpdateInputs, UpdateResults

WARM_UPS = 2  # updates of a form before it is recorded
MAX_FORMS = 4  # with a graph each, which keeps the activations of an update in memory

Update = Callable[[UpdateInputs], UpdateResults]
Form = tuple[str, ...]


class Recorder(ABC):
    """Records the work that a function gives to a device, in order to repeat it."""

    @abstractmethod
    def stream(self) -> AbstractContextManager[None]:
        """Context of all work before, during and after a recording."""

    @abstractmethod
    def record(self, update: Update, buffers: UpdateInputs) -> Callable[[], UpdateResults]:
        """Returns what repeats the work of `update(buffers)` on the present contents of the buffers.

        Nothing is computed before it is first called. Python code of `update` runs once, here.
        """


class CudaRecorder(Recorder):
    """Records CUDA graphs, on a stream of its own."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch does not annotate it

    @contextmanager
    def stream(self) -> Iterator[None]:
        outside = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(outside)
        try:
            with torch.cuda.stream(self._stream):
                yield
        finally:
            outside.wait_stream(self._stream)

    def record(self, update: Update, buffers: UpdateInputs) -> Callable[[], UpdateResults]:
        graph = torch.cuda.CUDAGraph()
        # "thread_local": other threads may copy batches and fetch weights, on streams of their own.
        try:
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
                results = update(buffers)
        except RuntimeError as error:
            raise RuntimeError(
                f"the update could not be recorded as a CUDA graph ({error}); set learner.cuda_graph=false"
            ) from error

        def replay() -> UpdateResults:
            graph.replay()
            return results

        return replay


class UpdateGraphs:
    """Runs updates, from the third of a form on by replaying a recording."""

    def __init__(self, update: Update, recorder: Recorder) -> None:
        """`update` must depend on its inputs and on tensors that stay where they are, and on nothing else."""
        self._update = update
        self._recorder = recorder
        self._seen: dict[Form, int] = {}
        self._graphs: dict[Form, tuple[UpdateInputs, Callable[[], UpdateResults]]] = {}

    def __call__(self, inputs: UpdateInputs) -> UpdateResults:
        """The results of an update. They are overwritten by the next one.

        Raises:
            ValueError: the inputs have too many forms; the message states how the last two differ.
        """
        form = form_of(inputs)
        if form not in self._seen:
            self._check_forms(form)
        self._seen[form] = self._seen.get(form, 0) + 1
        if self._seen[form] <= WARM_UPS:
            return self._update(inputs)
        if form not in self._graphs:
            buffers = mapped(inputs, lambda tensor: tensor.clone(memory_format=torch.contiguous_format))
            self._graphs[form] = buffers, self._recorder.record(self._update, buffers)
        buffers, replay = self._graphs[form]
        for (_, buffer), (_, tensor) in zip(tensors_in(buffers), tensors_in(inputs), strict=True):
            buffer.copy_(tensor, non_blocking=True)
        return replay()

    def forget(self) -> None:
        """Drops all graphs, because no inputs of their forms will come again."""
        self._seen.clear()
        self._graphs.clear()

    def _check_forms(self, form: Form) -> None:
        if len(self._seen) == MAX_FORMS:
            last = set(next(reversed(self._seen)))
            new = [entry for entry in form if entry not in last] or ["fewer arrays than before"]
            raise ValueError(
                f"learner.cuda_graph=true needs updates of the same shapes, and this is the {MAX_FORMS + 1}th: "
                f"{', '.join(new[:3])}. Set learner.cuda_graph=false, or give every batch the same lanes, steps and "
                "arrays"
            )


def form_of(inputs: UpdateInputs) -> Form:
    """The name, dtype and shape of every tensor of the inputs, as "rollout.device.first bool [51, 96]"."""
    return tuple(f"{name} {str(tensor.dtype)[6:]} {list(tensor.shape)}" for name, tensor in tensors_in(inputs))


def tensors_in(value: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """The tensors in nested tuples and mappings, with their names."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from tensors_in(each, f"{name}.{key}")
    elif isinstance(value, tuple):
        for key, each in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            yield from tensors_in(each, f"{name}.{key}".lstrip("."))


def mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Nested tuples and mappings with every tensor replaced by `change` of it."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return {key: mapped(each, change) for key, each in value.items()}
    if isinstance(value, tuple):
        parts = [mapped(each, change) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def check_cuda_graph(device: torch.device, ranks: int) -> None:
    """Check that updates can be recorded as CUDA graphs.

    Raises:
        ValueError: they cannot on this device, or with this number of ranks.
    """
    if device.type != "cuda":
        raise ValueError(
            f"learner.cuda_graph=true records kernels of a GPU, and learner.device is {device}; set "
            "learner.cuda_graph=false, or learner.device=cuda"
        )
    if ranks > 1:
        raise ValueError(
            f"learner.cuda_graph=true does not work with {ranks} ranks, which exchange gradients within an update; set "
            "learner.cuda_graph=false, or runtime.learners=1"
        )
