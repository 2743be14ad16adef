"""The rows of a batch that losses select: those with an utterance, and those whose texts CSS pairs.

Everything else that losses compute has the shape of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.agent.selected_rows import SelectedRows, select_rows
from interplay.learner.batch import LearnerBatch, UnrollTensors
from interplay.learner.losses import CSSPairs, css_pairs


class LossRows(NamedTuple):
    """The selected rows of a part of a batch, on the learner's device; None where no loss selects any."""

    played: SelectedRows | None  # rollout rows with an utterance
    cloned: SelectedRows | None  # demonstrated rows whose utterance is cloned
    pairs: CSSPairs | None
    other_texts: Tensor | None  # int16 [T, b, 2 L], of the lanes that CSS pairs, if they may be in other parts


class RowLengths:
    """The lengths to which lists of rows are padded, by the name of the list: each grows when it must, and never
    shrinks, so that after some updates all have the same shapes."""

    HEADROOM = 1.5  # times the rows seen when a length is chosen
    LEAST = 16

    def __init__(self) -> None:
        self._lengths: dict[str, int] = {}
        self.growths = 0  # how often a length was chosen or grew

    def __call__(self, name: str, rows: int) -> int:
        """The length of the list `name`, at least `rows`: a power of two."""
        if rows > self._lengths.get(name, 0):
            wanted = max(self.LEAST, int(self.HEADROOM * rows))
            self._lengths[name] = 1 << (wanted - 1).bit_length()
            self.growths += 1
        return self._lengths[name] if name in self._lengths else self(name, 1)


def select_loss_rows(
    batch: LearnerBatch,
    lanes: list[tuple[slice, slice]],
    permutation: Tensor | None,
    gather: Callable[[Tensor], Tensor],
    device: torch.device,
    lengths: RowLengths | None,
) -> tuple[LossRows, ...]:
    """Selects the rows of each part of a batch, on the host, and sends their indices to the device.

    Args:
        lanes: of each part, the demonstrated ones and those of the rollout.
        permutation: int64 [b], of the demonstrated lanes, indices of those of all ranks; None if CSS pairs no texts.
        gather: concatenates the lanes of all ranks.
        lengths: of the lists; None: as many as there are rows.
    """

    def selected(name: str, mask: Tensor) -> SelectedRows:
        length = None if lengths is None else lengths(name, int(mask.sum()))
        return select_rows(mask, length).to(device)

    pairs, other_text = None, None
    shown = batch.demonstrated
    if shown is not None and permutation is not None:
        text, mask = texts_of(shown.host), pairable_rows(shown)
        other_text, other_mask = gather(text)[:, permutation], gather(mask)[:, permutation]
        pairs = css_pairs(text=text, mask=mask, other_text=other_text, other_mask=other_mask)
    found = []
    for here, there in lanes:
        played, cloned = _utterances(batch.rollout, there), _cloned_utterances(shown, here)
        pairs_here = None
        if pairs is not None:
            names = ("matching", "mismatching")
            pairs_here = CSSPairs(*(selected(name, mask[:, here]) for name, mask in zip(names, pairs, strict=True)))
        found.append(
            LossRows(
                played=None if played is None else selected("played", played),
                cloned=None if cloned is None else selected("cloned", cloned),
                pairs=pairs_here,
                other_texts=None if other_text is None or len(lanes) == 1 else send(other_text[:, here], device),
            )
        )
    return tuple(found)


def texts_of(arrays: Mapping[str, Tensor]) -> Tensor:
    """The words heard and said, int16 [T, B, 2 L]."""
    return torch.cat([arrays["heard"], arrays["said"]], dim=-1)


def pairable_rows(rows: UnrollTensors) -> Tensor:
    """The rows that CSS may pair, bool [T, B], on the host."""
    return rows.host.get("untouched", torch.ones_like(rows.host["last"]))


def _utterances(rows: UnrollTensors | None, lanes: slice) -> Tensor | None:
    """The rows of some lanes with an utterance, bool [T, b]; None in a world without utterances."""
    return None if rows is None or "spoke" not in rows.host else rows.host["spoke"][:, lanes]


def _cloned_utterances(rows: UnrollTensors | None, lanes: slice) -> Tensor | None:
    """The rows of some lanes whose utterance is cloned, bool [T, b]; None in a world without utterances."""
    spoke = _utterances(rows, lanes)
    if rows is None or spoke is None:
        return None
    cloned = rows.host.get("words_cloned", rows.host["cloned"])
    return spoke & (cloned & ~rows.host["last"])[:, lanes]
