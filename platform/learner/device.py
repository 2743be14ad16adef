"""Devices by name."""

from __future__ import annotations

import torch

from interplay.core.setting_checks import check_device_name


class Unavailable(ValueError):
    """A setting asks for a device, or a way to draw, that this machine lacks."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)  # both, so that a copy in another process can be made from them
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}. {self.remedy[0].upper()}{self.remedy[1:]}"


def find_device(name: str, setting: str = "learner.device") -> torch.device:
    """The device of this name; "auto" is the first GPU, or the CPU without a GPU. `setting` is named in the error.

    Raises:
        ValueError: the name is invalid.
        Unavailable: there is no such device.
    """
    check_device_name(name, setting)
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return _gpu(0) if there else torch.device("cpu")
    device = torch.device(name)
    if device.type == "cpu":
        return device
    index = device.index or 0
    if index >= there:
        raise Unavailable(
            f"{setting}={name} is not available: {_seen(there)}",
            f"choose {setting}=auto, which uses what is available, or use a machine that has it",
        )
    return _gpu(index)


def computes_bf16(device: torch.device) -> bool:
    """Whether the device has instructions for bf16. Without them torch computes it in software, which takes
    many times as long as float32 (docs/learner.md)."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _gpu(index: int) -> torch.device:
    """Disable TF32: torch's default rounds the factors of convolutions to 10 bits, so that the learner's probabilities
    would differ from those of an actor on a CPU."""
    torch.backends.cudnn.allow_tf32 = False
    return torch.device("cuda", index)


def _seen(there: int) -> str:
    if there:
        return f"torch sees {there} GPU(s), cuda:0 to cuda:{there - 1}"
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA (see CUDA or CPU torch in CONTRIBUTING.md)"
    return "torch sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES"
