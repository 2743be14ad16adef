"""Restricts a worker to the GPUs that Ray has assigned to it."""

from __future__ import annotations

import os

import ray


def hide_unassigned_gpus() -> None:
    """Hides all GPUs from a process that requested none; to be called before the process touches a GPU.

    Ray sets CUDA_VISIBLE_DEVICES only for workers that requested GPUs; the others see all of them, and device=auto
    would choose a GPU that belongs to another worker.
    """
    if not ray.get_runtime_context().get_accelerator_ids()["GPU"]:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
