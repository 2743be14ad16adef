"""What a test leaves in its process, which it shares with the tests of other files in an order that varies."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
# Environment variables that libraries set for good once they are imported or used, some on GPUs or without a home
# only; those of Ray are its token.
OF_LIBRARIES = (
    "CUBLAS_", "CUDA_", "DISABLE_CUPTI_", "KMP_", "MPLCONFIGDIR", "PYGAME_", "PYTEST_", "RAY_", "TEARDOWN_CUPTI",
    "TORCH", "TRITON_", "WANDB_SERVICE", "_TORCHINDUCTOR_",
)  # fmt: skip


@contextmanager
def keeps_process_state() -> Iterator[None]:
    """Raises AssertionError if code inside the block changes a state of the process that other tests depend on."""
    before = _state()
    yield
    after = _state()
    changed = [
        f"{name}: {before.get(name)!r} -> {after.get(name)!r}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    assert not changed, f"the test changed its process for the tests after it: {'; '.join(changed)}"


def _state() -> Mapping[str, object]:
    root, torch = logging.getLogger(), sys.modules.get("torch")
    return {
        **{f"os.environ[{name!r}]": text for name, text in os.environ.items() if not name.startswith(OF_LIBRARIES)},
        **{f"handler of {number.name}": signal.getsignal(number) for number in SIGNALS},
        "working directory": Path.cwd(),
        "sys.path": [*sys.path],
        "sys.modules['random']": sys.modules.get("random"),
        "sys.breakpointhook": sys.breakpointhook,
        "level of the root logger": root.level,
        "handlers of the root logger": [*root.handlers],
        "torch's default dtype": str(torch.get_default_dtype()) if torch else "torch.float32",
    }
