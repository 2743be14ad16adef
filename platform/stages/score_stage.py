"""The score verb: how unsure a reward model is of each recording and what it remembers of it, which decide what people
mark next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from interplay.actors.row_writer import RowWriter
from interplay.core.files import check_replaceable, replacing, write_whole
from interplay.env.arrays import Float32Array, Float64Array
from interplay.episodes.decoded_episode import decode_for_role
from interplay.episodes.encoding import iter_readable
from interplay.episodes.store import EpisodeStore
from interplay.learner.agents import load_agent
from interplay.learner.checkpoint import CheckpointError, complete, read
from interplay.reward.diagnostics import memory, utilities
from interplay.stages.reward_source import scoring_device
from interplay.stages.run import Run, closes_worlds
from interplay.stages.score_files import MEMORIES, SCORES, changing_scores
from interplay.tracking.progress import Progress

AHEAD_SECONDS = 5.0  # between the two moments whose order the model predicts


@closes_worlds
def score(run: Run) -> Path:
    """Writes `studio/scores.json`: by rule ("uncertain", "disagree"), the score of every recording.

    `studio/memories.npz` holds what the newest reward model remembers of each recording, `memory` [N, D], and
    their `ids` [N]. The models compute where and as in `reinforce`; see `scoring_device`.

    Raises:
        CheckpointError: the run has no reward model.
        ValueError: there is no recording, or no such device as `reinforce.learner.device`.
        OSError: see `check_replaceable`.
    """
    folder = run.root / "studio"
    check_replaceable(folder / MEMORIES, folder / SCORES)
    paths = complete(run.stage("reward").checkpoints)
    if not paths:
        raise CheckpointError(f"{run.root} has no reward model to score by; type: {run.command('reward')}")
    newest = read(paths[-1])
    model = {"checkpoint": newest.path.name, "weights": newest.fingerprint}
    models, on = [load_agent(path) for path in paths], scoring_device(run)
    world = run.make_world()
    ahead = max(1, round(AHEAD_SECONDS * world.spec.frames_per_second / world.spec.frames_per_step))
    scores: dict[str, dict[str, float]] = {"uncertain": {}, "disagree": {}}
    memories: dict[str, Float32Array] = {}
    with run.store() as store:
        ids = store.ids()
        if not ids:
            raise ValueError(f"{run.root} has no recordings to score; type: {run.command('collect')}")
        with Progress(len(ids), "recordings", {}, title="score") as progress:
            for number, recorded in enumerate(iter_readable(store, ids), 1):
                episode, decoded = recorded.meta.id, decode_for_role(recorded, world.spec.solver, world=world)
                traces = [
                    utilities(model, [RowWriter(model.layout, words).encode_episode(decoded)], on=on)[0]
                    for model, words in models
                ]
                scores["uncertain"][episode] = round(uncertainty(traces[-1], ahead), 6)
                scores["disagree"][episode] = round(disagreement(traces, ahead), 6)
                last, words = models[-1]
                memories[episode] = memory(last, RowWriter(last.layout, words).encode_episode(decoded), on=on)
                progress.log(number, {})
        return write_scores(folder, store, model, scores, memories)


def write_scores(
    folder: Path,
    store: EpisodeStore,
    model: Mapping[str, str],
    scores: Mapping[str, Mapping[str, float]],
    memories: Mapping[str, Float32Array],
) -> Path:
    """Writes the scores and memories of the episodes that the store still lists, by id; the file of the scores.

    Others were deleted while they were scored. `model` has the reward model's checkpoint, and a hash of its weights.
    """
    with changing_scores(folder):
        left = [episode for episode in store.ids() if episode in memories]
        if left:
            with replacing(folder / MEMORIES) as temporary, temporary.open("wb") as file:
                np.savez(file, ids=np.array(left), memory=np.stack([memories[episode] for episode in left]))
        else:
            (folder / MEMORIES).unlink(missing_ok=True)
        kept = {order: {episode: of_order[episode] for episode in left} for order, of_order in scores.items()}
        write_whole(folder / SCORES, json.dumps({**model, **kept}) + "\n")
    return folder / SCORES


def uncertainty(utility: Float32Array, ahead: int) -> float:
    """The mean entropy, in nats, of the order of moments that are `ahead` rows apart, sigmoid(U_{t+ahead} - U_t).

    utility: [rows]. Shorter recordings compare their first and last row. 0 for a single row, which has no order.
    """
    if len(utility) < 2:
        return 0.0
    p = np.clip(later_is_better(utility, ahead), 1e-9, 1 - 1e-9)
    return float(-(p * np.log(p) + (1 - p) * np.log(1 - p)).mean())


def disagreement(traces: Sequence[Float32Array], ahead: int) -> float:
    """The mean variance of that order over models, whose utilities [rows] are `traces`; 0 for one model."""
    return float(np.var([later_is_better(each, ahead) for each in traces], axis=0).mean())


def later_is_better(utility: Float32Array, ahead: int) -> Float64Array:
    """The probability that the later of two moments, `ahead` rows apart, is the better one; [rows - ahead]."""
    ahead = min(ahead, len(utility) - 1)
    rise = utility[ahead:].astype(np.float64) - utility[: len(utility) - ahead]
    return np.asarray(1 / (1 + np.exp(-rise)))
