"""The settings of a contestant, from its command line, and its reports to the referee."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from sizes import SIZES, Size


@dataclass(frozen=True)
class Settings:
    """One run."""

    size: Size
    workers: int  # processes that play, where the contestant has any
    worlds: int  # of each worker, and the batch of its inference
    unroll: int  # T
    work: float  # CPU seconds of a world's step
    wait: float  # seconds that a world's step sleeps
    folder: str  # for whatever it must write

    @property
    def batch(self) -> int:
        """Frames of one update: an unroll of every world."""
        return self.workers * self.worlds * self.unroll


def settings() -> Settings:
    """From the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    for name, kind, usual in (("workers", int, 2), ("worlds", int, 16), ("unroll", int, 50), ("work", float, 1e-4)):
        parser.add_argument(f"--{name}", type=kind, default=usual)
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    return Settings(
        SIZES[options.size], options.workers, options.worlds, options.unroll, options.work, options.wait, options.folder
    )


def report_frames(frames: int) -> None:
    """Reports how many frames have been learned from so far; the referee counts the CPU seconds."""
    sys.stdout.write(f"trained {frames}\n")
    sys.stdout.flush()


def report_parameters(parameters: int) -> None:
    """Reports the number of parameters of the network."""
    sys.stdout.write(f"parameters {parameters}\n")
    sys.stdout.flush()
