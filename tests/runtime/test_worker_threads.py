"""The threads of torch in a worker process: limited before its import as well as after it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from interplay.runtime.ray.worker import limit_torch_threads
limit_torch_threads(1)
assert "torch" not in sys.modules
import torch
print(torch.get_num_threads())
limit_torch_threads(2)
print(torch.get_num_threads())
"""


@pytest.mark.slow
def test_threads_are_limited_before_and_after_the_import_of_torch() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["1", "2"]
