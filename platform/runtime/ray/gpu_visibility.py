"""A part sees the GPUs that Ray has set aside for it, and no other."""

from __future__ import annotations

import os

import ray


def hide_unassigned_gpus() -> None:
    """To be called in a part's process before it touches a GPU.

    Ray shows those that it has set aside to whoever asked for some; to who asked for none it leaves all visible, so
    that device=auto would settle on a GPU that is another part's.
    """
    if not ray.get_runtime_context().get_accelerator_ids()["GPU"]:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
