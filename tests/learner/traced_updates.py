"""A recorder of updates for the CPU, and what an update may not do while a GPU records it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch
from emulated_gpu import nested_tensors
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from interplay.agent.network import Agent
from interplay.learner.gradient import UpdateInputs, UpdateResults
from interplay.learner.learner import Learner
from interplay.learner.update_graphs import Recorder, mapped, tensors_in

# Operations that read a value on the host, or whose shape depends on values.
HOST_READS = {
    "_local_scalar_dense",
    "equal",
    "is_nonzero",
    "item",
    "masked_select",
    "nonzero",
    "nonzero_static",
    "repeat_interleave",
    "unique_consecutive",
    "unique_dim",
    "_unique2",
}
RANDOM = {"bernoulli", "bernoulli_", "normal_", "rand", "randint", "randn", "randperm", "native_dropout", "uniform_"}


class TracedRecorder(Recorder):
    """Records the operations of an update, and repeats them on the same tensors without running its Python code.

    As with a CUDA graph, nothing but the contents of the buffers, the weights and the optimizer's state can change
    what a replay computes, its results lie where those of the replay before lay, and gradients have fixed places.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.learner: Learner | None = None
        self.recorded: list[Counter[str]] = []  # operations by name, of each recording

    def stream(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def record(
        self, update: Callable[[UpdateInputs], UpdateResults], buffers: UpdateInputs
    ) -> Callable[[], UpdateResults]:
        given = [tensor for _, tensor in tensors_in(buffers)]
        form, placeholder = [], torch.empty(0)

        def flat(*tensors: Tensor) -> list[Tensor]:
            left = iter(tensors)
            results = update(mapped(buffers, lambda _: next(left)))
            form.append(mapped(results, lambda _: placeholder))
            return [tensor for _, tensor in tensors_in(results)]

        with self._unchanged():
            traced = make_fx(flat)(*given)
        names = (str(node.target) for node in traced.graph.nodes if node.op == "call_function")
        self.recorded.append(Counter(name.removeprefix("aten.").partition(".")[0] for name in names))
        held: list[Tensor] = []

        def replay() -> UpdateResults:
            found = traced(*given)
            held.extend(tensor.clone() for tensor in found[len(held) :])
            for kept, tensor in zip(held, found, strict=True):
                kept.copy_(tensor)
            left = iter(held)
            results: UpdateResults = mapped(form[0], lambda _: next(left))
            return results

        return replay

    @contextlib.contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Tracing computes; this undoes its steps."""
        assert self.learner is not None
        moments = [each for state in self.learner._optimizer.state.values() for each in state.values()]
        tensors = [*self._agent.parameters(), *moments]
        before = [tensor.detach().clone() for tensor in tensors]
        yield
        with torch.no_grad():
            for tensor, old in zip(tensors, before, strict=True):
                tensor.copy_(old)


class Recordable(TorchDispatchMode):
    """Raises at an operation that cannot be recorded for a device; counts the others that launch work there."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device
        self.launches = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.partition("::")[2]
        given = list(nested_tensors((args, kwargs or {})))
        found = func(*args, **(kwargs or {}))
        if name in HOST_READS:
            raise AssertionError(f"{func} reads a value on the host, or its shape depends on one")
        if name in RANDOM:
            raise AssertionError(f"{func} draws random numbers, which a recording would repeat")
        if name in ("index", "index_put", "index_put_", "_index_put_impl_") and any(
            isinstance(each, Tensor) and each.dtype in (torch.bool, torch.uint8) for each in args[1]
        ):
            raise AssertionError(f"{func} with a mask: its shape depends on values")
        elsewhere = {str(each.device) for each in (*given, *nested_tensors(found)) if each.device != self.device}
        if elsewhere:
            raise AssertionError(f"{func} has tensors on {elsewhere}, where a recording for {self.device} is made")
        self.launches += not func.is_view
        return found
