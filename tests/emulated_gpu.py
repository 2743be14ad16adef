"""A GPU emulated on the CPU: tensors that state the device "cuda:0", so that code for a GPU runs without one.

An operation on tensors of both devices raises, as on a GPU, and so does `numpy` of a tensor of the GPU. Values are
computed on the CPU, so results can be compared bit for bit. Streams, events and pinned memory have no effect. Not
emulated: work that is still under way, the limit of memory, compilation, Triton's kernels and CUDA graphs.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils import clip_grad
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils import _foreach_utils

GPU = torch.device("cuda", 0)
HOST = torch.device("cpu")
# Functions that get tensors of both devices on a GPU, too.
BETWEEN_DEVICES = {"copy_", "_has_compatible_shallow_copy_type", "__set__"}
# Functions that wait for the GPU, because the host reads a value or needs one for a shape.
HOST_READS = {
    *("item", "tolist", "__bool__", "__int__", "__float__", "__index__", "equal", "allclose"),
    *("nonzero", "unique", "masked_select", "argwhere"),
}


class GpuTensor(Tensor):
    """A tensor in the memory of the host that states to be on the GPU."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _call(func, args, kwargs or {}, Counter())

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            made = self.detach().clone()
            is_parameter = isinstance(self, torch.nn.Parameter)
            memo[id(self)] = torch.nn.Parameter(made, self.requires_grad) if is_parameter else made
        found: Tensor = memo[id(self)]
        return found


class EmulatedGpu(TorchFunctionMode):
    """While entered, `device="cuda"` makes tensors of the emulated GPU. `reads` counts functions that wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: Counter[str] = Counter()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _call(func, args, kwargs or {}, self.reads)


@contextlib.contextmanager
def emulated_gpu() -> Iterator[EmulatedGpu]:
    """torch sees one GPU while this is entered, also in threads that begin meanwhile."""
    run = threading.Thread.run

    def run_with_gpu(thread: threading.Thread) -> None:
        with EmulatedGpu():
            run(thread)

    with pytest.MonkeyPatch.context() as patch, EmulatedGpu() as gpu:
        for name, value in (("is_available", True), ("device_count", 1), ("is_bf16_supported", True)):
            patch.setattr(torch.cuda, name, lambda *_, value=value, **__: value)
        patch.setattr(torch.cuda, "mem_get_info", lambda *_: (80 * 10**9, 80 * 10**9))
        for name in ("synchronize", "empty_cache", "reset_peak_memory_stats"):
            patch.setattr(torch.cuda, name, lambda *_: None)
        patch.setattr(torch.cuda, "max_memory_allocated", lambda *_: 10**9)
        patch.setattr(torch.cuda, "get_device_name", lambda *_: "emulated")
        for name in ("Stream", "Event"):
            patch.setattr(torch.cuda, name, _Nothing)
        for module in (torch.cuda, torch.accelerator):  # Adam asks the second one, which needs a driver
            patch.setattr(module, "current_stream", _Nothing)
        for name in ("stream", "device"):
            patch.setattr(torch.cuda, name, lambda _: contextlib.nullcontext())
        autocast = torch.autocast
        patch.setattr(threading.Thread, "run", run_with_gpu)
        save = torch.save
        patch.setattr(torch, "save", lambda value, *args, **options: save(_loaded(value), *args, **options))
        patch.setattr(clip_grad, "_group_tensors_by_device_and_dtype", _grouped)
        patch.setattr(torch, "autocast", lambda _, *args, **options: autocast("cpu", *args, **options))
        yield gpu


def _grouped(lists: list[list[Tensor]], *args: Any) -> dict[Any, Any]:
    """torch's groups of tensors by device and dtype, which it makes of the memory where tensors lie."""
    groups = _foreach_utils._group_tensors_by_device_and_dtype(lists, *args)
    return {(GPU if on_gpu(found[0][0][0]) else device, dtype): found for (device, dtype), found in groups.items()}


class _Nothing:
    """A stream or an event: all of its methods do nothing."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


def on_gpu(value: object) -> bool:
    """Whether this is a tensor of the emulated GPU."""
    return isinstance(value, GpuTensor)


def _call(func: Any, args: Any, kwargs: dict[str, Any], reads: Counter[str]) -> Any:
    name = getattr(func, "__name__", "")
    tensors = list(nested_tensors((args, kwargs)))
    here = any(map(on_gpu, tensors))
    owner = getattr(func, "__self__", None)  # of a property
    if name == "__get__" and here:
        if owner is Tensor.device:
            return GPU
        if owner is Tensor.is_cuda:
            return True
        if owner is Tensor.is_cpu:
            return False
    if name == "_has_compatible_shallow_copy_type":
        return False  # so that a module gets new parameters when it is moved
    if name in ("numpy", "__array__") and here:
        raise TypeError(f"can't convert {GPU} device type tensor to numpy")
    if name in ("pin_memory", "record_stream"):
        return args[0]
    if name == "backward":  # its parts are called on the tensors of the graph
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    kwargs.pop("pin_memory", None)
    to = _target(name, args, kwargs)
    if here and to is None and name not in BETWEEN_DEVICES:
        strangers = [tuple(each.shape) for each in tensors if not on_gpu(each) and each.dim()]
        if strangers:
            raise RuntimeError(f"{resolve_name(func)} has tensors on {GPU} and on the host, of shapes {strangers}")
    if here and (name in HOST_READS or _selects_by_mask(name, args) or _waits_for_a_copy(name, args, kwargs, to)):
        reads[name] += 1
    if to is not None:
        args, kwargs = _on_host(name, args, kwargs)
        func = Tensor.cpu if name == "cuda" else func
    with torch._C.DisableTorchFunctionSubclass():
        found = func(*args, **kwargs)
    goes_there = on_gpu(args[0]) if name == "copy_" else here if to is None else to.type == "cuda"
    return _placed(found, goes_there, bool(to) and here != goes_there)


def _target(name: str, args: Any, kwargs: dict[str, Any]) -> torch.device | None:
    """The device that a function is asked for; None if it follows its tensors."""
    if name == "cpu":
        return HOST
    if name == "cuda":
        return GPU
    if name == "to" and len(args) > 1 and isinstance(args[1], Tensor):
        return GPU if on_gpu(args[1]) else HOST
    given = [kwargs["device"]] if kwargs.get("device") is not None else []
    if name == "to":
        given += [each for each in args[1:2] if isinstance(each, str | torch.device)]
    return torch.device(given[0]) if given else None


def _on_host(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a function with the host as its target."""
    if name in ("cpu", "cuda"):
        return args[:1], {}
    if name == "to" and len(args) > 1 and isinstance(args[1], Tensor):
        args = (args[0], HOST, args[1].dtype, *args[2:])
    elif name == "to" and len(args) > 1:
        args = (args[0], HOST, *args[2:])
    return args, {**kwargs, "device": HOST} if "device" in kwargs else kwargs


def _selects_by_mask(name: str, args: Any) -> bool:
    if name not in ("__getitem__", "__setitem__"):
        return False
    keys = args[1] if isinstance(args[1], tuple) else (args[1],)
    return any(isinstance(key, Tensor) and key.dtype == torch.bool for key in keys)


def _waits_for_a_copy(name: str, args: Any, kwargs: dict[str, Any], to: torch.device | None) -> bool:
    """Whether a function copies to the host and waits until the copy is there."""
    to_host = to == HOST or (name == "copy_" and not on_gpu(args[0]))
    return to_host and not kwargs.get("non_blocking")


def _placed(value: Any, goes_there: bool, is_copy: bool) -> Any:
    """The tensors of a result, on the device where it is."""
    if isinstance(value, Tensor):
        value = value.clone() if is_copy and not value.is_meta else value
        with torch._C.DisableTorchFunctionSubclass():
            if goes_there:
                return value if on_gpu(value) else value.as_subclass(GpuTensor)
            return value.as_subclass(Tensor) if on_gpu(value) else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_placed(each, goes_there, is_copy) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(_placed(each, goes_there, is_copy) for each in value)
    return value


def _loaded(value: Any) -> Any:
    """What `torch.load` returns with `map_location="cpu"`."""
    if isinstance(value, dict):
        return type(value)({key: _loaded(each) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return type(value)(map(_loaded, value))
    return value.detach().cpu() if on_gpu(value) else value


def nested_tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in dictionaries, lists and tuples."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from nested_tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from nested_tensors(each)
