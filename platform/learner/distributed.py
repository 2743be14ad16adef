"""Data-parallel learners, one rank for each GPU (or CPU process), connected by torch.distributed.

    group = join(rank=r, size=n, address="10.0.0.1:29500", device=torch.device("cuda", 0))
    learner = Learner(agent, config, dataset_lanes=lanes // n, generator=..., group=group)   # same seeds everywhere
    ...                                                                                      # each with its own lanes
    group.close()

The process that starts the ranks chooses the address: a free port on the machine of rank 0, which listens there. If it
is rank 0, it can listen there from the start (`listener`), so that no other program takes the port.
"""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, distributed

from interplay.learner.process_group import ProcessGroup

MAX_PORT = 65_535
EXCHANGE_TIMEOUT_S = 600.0  # seconds that a rank waits for the others in one exchange


class RankLost(RuntimeError):
    """An exchange between the ranks failed: one has ended, never joined, or is too slow."""


class DistributedGroup(ProcessGroup):
    """The process group of this process; see `join`."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        self.size = size

    def shares(self, counts: Tensor) -> Tensor:
        return (counts.double() / self.sum(counts).clamp(min=1)).float()

    def sum(self, values: Tensor) -> Tensor:
        total = values.detach().clone()
        self._exchange("a sum", distributed.all_reduce, total)
        return total

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        # Which parameters have a gradient depends on the terms, not on the data, so it is the same on every rank.
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat(
            [gradient.reshape(-1) for gradient in gradients]
        )  # one exchange instead of one for each parameter
        self._exchange("the gradients", distributed.all_reduce, flat)
        for gradient, summed in zip(gradients, torch.split(flat, [each.numel() for each in gradients]), strict=True):
            gradient.copy_(summed.view(gradient.shape))

    def gather(self, lanes: Tensor) -> Tensor:
        wire = {torch.bool: torch.uint8, torch.int16: torch.int32}.get(
            lanes.dtype, lanes.dtype
        )  # dtypes that backends support
        gathered: Tensor = _Gather.apply(lanes.to(wire), self)  # type: ignore[no-untyped-call]  # torch does not annotate it
        return gathered.to(lanes.dtype)

    def check_same(self, what: str, tensors: Iterable[Tensor]) -> None:
        own = torch.tensor([_fingerprint(tensor) for tensor in tensors])
        low, high = own.clone(), own.clone()
        self._exchange(f"comparing {what}", distributed.all_reduce, low, distributed.ReduceOp.MIN)
        self._exchange(f"comparing {what}", distributed.all_reduce, high, distributed.ReduceOp.MAX)
        different = int((low != high).sum())
        if different:
            raise ValueError(
                f"{different} of {len(own)} tensors of the {what} are not the same on all {self.size} ranks (this is "
                f"rank {self.rank}): build and load every rank from the same seeds, settings and checkpoint"
            )

    def close(self) -> None:
        """Leave the group; the other ranks must have finished, too."""
        distributed.destroy_process_group()

    def _exchange(self, what: str, exchange: Callable[..., Any], *arguments: Any) -> None:
        try:
            exchange(*arguments)
        except RuntimeError as error:  # the base class of torch.distributed's errors
            raise RankLost(
                f"rank {self.rank} of {self.size} could not exchange {what} with the others: another rank has ended "
                f"or is stuck; its own log says why. ({error})"
            ) from error


def join(
    *,
    rank: int,
    size: int,
    address: str,
    device: torch.device | str = "cpu",
    patience: float = EXCHANGE_TIMEOUT_S,
    listener: socket.socket | None = None,
) -> DistributedGroup:
    """Join the other ranks; returns when all have joined. One group per process.

    Args:
        rank: from 0 to size - 1, each once.
        address: HOST:PORT of rank 0, which listens there.
        device: of this rank's learner: the CPU (gloo) or a GPU (nccl, and gloo for what stays on the host).
        patience: seconds that any exchange, including joining, may take before it fails.
        listener: of rank 0, a socket that listens at the address; it belongs to the group from then on.

    Raises:
        ValueError: rank, size or address is invalid.
        RankLost: the others did not join in time.
    """
    if not 0 <= rank < size:
        raise ValueError(f"rank must be from 0 to size - 1, got rank={rank} and size={size}")
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > MAX_PORT:
        raise ValueError(f"address must be HOST:PORT of rank 0, as 127.0.0.1:29500, got {address!r}")
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    limit = timedelta(seconds=patience)
    try:
        store = distributed.TCPStore(  # type: ignore[attr-defined]  # torch documents it there
            host,
            int(port),
            size,
            is_master=rank == 0,
            timeout=limit,
            multi_tenant=True,  # the next group of this process may have the same address
            master_listen_fd=None if listener is None else listener.detach(),
        )
        distributed.init_process_group(
            "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo",
            store=store,
            rank=rank,
            world_size=size,
            timeout=limit,
        )
    except RuntimeError as error:
        # torch names a group by a counter, and counts groups that failed to form: without a reset the next attempt
        # would use another name than the other ranks.
        distributed.distributed_c10d._world.group_count = 0
        raise RankLost(
            f"rank {rank} of {size} waited {patience:g} s at {address} and the others did not join: check that all are "
            f"started, that the address is rank 0's, and that its port is free and open. ({error})"
        ) from error
    return DistributedGroup(rank, size)


class _Gather(torch.autograd.Function):
    """Concatenates the lanes of all ranks; backward sums the gradients of all ranks for this rank's lanes."""

    @staticmethod
    def forward(ctx: Any, lanes: Tensor, ranks: DistributedGroup) -> Tensor:
        ctx.ranks, ctx.lanes = ranks, lanes.shape[1]
        parts = [torch.empty_like(lanes, memory_format=torch.contiguous_format) for _ in range(ranks.size)]
        ranks._exchange("lanes", distributed.all_gather, parts, lanes.contiguous())
        return torch.cat(parts, dim=1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        summed = ctx.ranks.sum(gradient.contiguous())
        return summed[:, ctx.ranks.rank * ctx.lanes :][:, : ctx.lanes], None


def _fingerprint(tensor: Tensor) -> int:
    """A 56-bit hash of the values."""
    values = tensor.detach().cpu().contiguous().numpy().tobytes()
    return int.from_bytes(hashlib.blake2b(values, digest_size=7).digest())
