"""Inference on a device: where and in which precision a network without gradients runs, and its copies to and from it.

    arrays --upload: one copy--> [network, on a stream of its own] --fetch: one copy--> arrays

On the CPU nothing is copied, and tensors share the memory of the arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor

Precision = Literal["fp32", "bf16"]


class InferenceDevice:
    """A device and a precision for networks that act or score.

    On a GPU the work runs on a stream of its own, so that fetching results does not wait for a learner on the same GPU.
    Networks of one `InferenceDevice` share the stream, and may exchange tensors.
    """

    def __init__(self, device: torch.device | str = "cpu", precision: Precision = "fp32") -> None:
        self.device = torch.device(device)
        self.precision: Precision = precision
        self._stream: torch.cuda.Stream | None = None
        if self.device.type == "cuda":
            self._stream = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]  # torch does not annotate it

    @property
    def is_exact(self) -> bool:
        """Whether results are those of eager float32 on the CPU, bit for bit."""
        return self.device.type == "cpu" and self.precision == "fp32"

    def stream(self) -> AbstractContextManager[object]:
        """Context in which work on a GPU goes to this object's stream."""
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Context of a computation without gradients, on this object's stream."""
        with torch.inference_mode(), self.stream():
            yield

    def autocast(self) -> AbstractContextManager[object]:
        """Context of a network's forward pass in this precision; heads remain in float32 (`Agent.unroll_core`)."""
        return torch.autocast(self.device.type, torch.bfloat16) if self.precision == "bf16" else nullcontext()

    def upload(self, arrays: Mapping[str, NDArray[Any]], names: Iterable[str] | None = None) -> dict[str, Tensor]:
        """Copies arrays to the device in one transfer on its stream; on the CPU, tensors share their memory.

        Args:
            names: of the arrays to copy; None for all. What a `SharedUpload` of this object holds is not copied again.
        """
        wanted = arrays if names is None else {name: arrays[name] for name in names}
        held = arrays.held if isinstance(arrays, SharedUpload) and arrays.on is self else {}
        missing = {name: array for name, array in wanted.items() if name not in held}
        held.update(self.copy(missing))
        return {name: held[name] for name in wanted}

    def copy(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
        """As `upload`, of all arrays."""
        if self.device.type == "cpu" or not arrays:
            return as_tensors(arrays)
        # torch keeps pinned blocks for later calls, and gives none out before copies from it have ended.
        block, form = packed_bytes(arrays, pinned=self.device.type == "cuda")
        with self.stream():
            return unpacked(block.to(self.device, non_blocking=True), form)


class SharedUpload(dict[str, NDArray[Any]]):
    """Arrays of one unroll that several networks of the same `InferenceDevice` read: each is uploaded once.

    Valid as long as the arrays do not change.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], on: InferenceDevice) -> None:
        super().__init__(arrays)
        self.on = on
        self.held: dict[str, Tensor] = {}  # on the device


def expect_any_batch_size() -> None:
    """Disables cuDNN's attention in this process, because the size of the batches varies.

    On an H100 or H200 torch prefers cuDNN, which takes about half a second to make a plan for each number of rows
    (reported for torch 2.11, with a mask). torch's other kernels need no plan.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


def send(tensor: Tensor, device: torch.device) -> Tensor:
    """Copies a tensor to the device without waiting, from the host to a GPU through pinned memory."""
    pinned = device.type == "cuda" and tensor.device.type == "cpu"
    return (tensor.pin_memory() if pinned else tensor).to(device, non_blocking=True)


def as_tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Tensors on the CPU that share the memory of the arrays."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def fetch(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Copies tensors of one device to the host in one transfer, and waits for it; on the CPU, memory is shared."""
    if all(tensor.device.type == "cpu" for tensor in tensors.values()):
        return {name: tensor.numpy() for name, tensor in tensors.items()}
    packed = {name: tensors[name].contiguous() for name in _aligned(tensors)}
    block = torch.cat([tensor.reshape(-1).view(torch.uint8) for tensor in packed.values()])
    host = torch.empty(block.shape, dtype=torch.uint8, pin_memory=block.device.type == "cuda")
    host.copy_(block, non_blocking=True)
    if block.device.type == "cuda":
        torch.cuda.current_stream(block.device).synchronize()
    found = unpacked(host, packed)
    return {name: found[name].numpy() for name in tensors}


def packed_bytes(arrays: Mapping[str, NDArray[Any]], *, pinned: bool) -> tuple[Tensor, dict[str, Tensor]]:
    """Copies arrays into one block of bytes, uint8 [N].

    Returns:
        The block, and by name an empty tensor on "meta" with the shape and dtype of each array, in the block's order.
    """
    shared = as_tensors(arrays)
    order = _aligned(shared)
    block = torch.empty(sum(array.nbytes for array in arrays.values()), dtype=torch.uint8, pin_memory=pinned)
    form = {name: torch.empty(shared[name].shape, dtype=shared[name].dtype, device="meta") for name in order}
    for name, part in unpacked(block, form).items():
        part.copy_(shared[name])
    return block, form


def unpacked(block: Tensor, form: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Views of a block of bytes, one after another, with the shapes and dtypes of the tensors of `form`."""
    sizes = [tensor.numel() * tensor.element_size() for tensor in form.values()]
    parts = zip(form.items(), torch.split(block, sizes), strict=True)
    return {name: part.view(tensor.dtype).view(tensor.shape) for (name, tensor), part in parts}


def _aligned(tensors: Mapping[str, Tensor]) -> list[str]:
    """Names, those with the largest elements first: each then begins at a multiple of the size of its elements."""
    return sorted(tensors, key=lambda name: -tensors[name].element_size())
