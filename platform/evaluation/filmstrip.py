"""Filmstrips: a few pictures of one episode, evenly spread from its first to its last."""

from __future__ import annotations

import numpy as np

from interplay.evaluation.probe_player import Film
from interplay.evaluation.report_data import Filmstrip


def evenly_spaced_rows(rows: int, count: int) -> list[int]:
    """Returns at most `count` of the rows 0 .. rows - 1, evenly spaced, including the first and the last."""
    return sorted({round(row) for row in np.linspace(0, rows - 1, min(count, rows)).tolist()})


def step_time(step: int, seconds_per_step: float) -> str:
    """The time of a step, with a second decimal where steps are shorter than a tenth of a second."""
    return f"{step * seconds_per_step:.{1 if seconds_per_step >= 0.1 else 2}f} s"


def make_filmstrip(film: Film, *, title: str, seconds_per_step: float, frames: int = 8) -> Filmstrip:
    """Makes a filmstrip of a filmed probe; the solver's utterances are part of the outcome."""
    if film.result is None:
        raise ValueError(f"the film of probe {film.probe.kind} {film.probe.index} has not been played to its end")
    result = film.result
    if result.success_step is None:
        outcome = f"not solved in {step_time(result.steps, seconds_per_step)}"
    else:  # not the time at its end, which comes after success has been held
        outcome = f"solved at {step_time(result.success_step, seconds_per_step)}"
    said = "".join(f", said “{words}”" for words in result.said)
    rows = evenly_spaced_rows(len(film.pictures), frames)
    return Filmstrip(
        title=title,
        instruction=result.instruction,
        outcome=outcome + said,
        pictures=[film.pictures[row] for row in rows],
        captions=[step_time(row, seconds_per_step) for row in rows],
    )
