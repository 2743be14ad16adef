"""The serve-reward command: serves the run's reward model to other programs until a signal stops it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from interplay.agent.network import Agent
from interplay.agent.weights import Weights, as_arrays, export_weights
from interplay.learner.agents import check_same_agent, describe_agent, load_agent
from interplay.learner.checkpoint import Checkpoint, read
from interplay.reward.learned_reward import learned_reward, state_width
from interplay.reward.reward_server import LocalScorer, ReadVersion, Scorer, listen
from interplay.runtime.cluster_token import prepare_ray
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.interruption import StopRequest
from interplay.runtime.messages import ScoringReplica
from interplay.stages.reward_source import RewardModel, build_reward_function, scoring_device
from interplay.stages.run import Run, closes_worlds
from interplay.stages.shared_parts import checkpoint_of, warn_of_unfinished_agent

SHUTDOWN_TIMEOUT_S = 10.0
POLL_SECONDS = 0.2
CHECK_SECONDS = 5.0


@closes_worlds
def serve_reward(run: Run, on_listening: Callable[[str, int], None]) -> None:
    """Serves until a signal requests a stop; calls `on_listening` with the host and port of the bound server.

    Raises:
        CheckpointError: the run has no reward model.
        ValueError: the address can't be bound, or there is no such device as `reinforce.learner.device`.
        WorkerFailed: no replica is left; the last client has received the reason.
        ClusterError: a process of Ray has ended without which no replica can score.
    """
    found = checkpoint_of(run, "reward")
    warn_of_unfinished_agent(run, "serve-reward", "reward")
    model, vocabulary = load_agent(found.path)

    def read_version(path: str) -> tuple[Weights, int]:
        newer = read(Path(path))
        check_same_agent(newer, describe_agent(model, vocabulary))
        return as_arrays(newer.weights()), newer.step

    with (
        listen(run.config.serve) as server,  # before Ray, which takes long to start: the address may be in use
        _scorer(run, found, model, read_version) as scorer,
        StopRequest(notice="stopping (once more to stop at once)") as stop,
    ):
        server.answer_with(scorer, vocabulary, model.layout, state_width(model))
        thread = threading.Thread(target=server.serve_forever, name="reward-service", daemon=True)
        thread.start()
        try:
            on_listening(str(server.server_address[0]), server.server_address[1])
            checked = time.monotonic()
            while not stop.requested and thread.is_alive() and server.ended_by is None:
                thread.join(POLL_SECONDS)
                if time.monotonic() - checked >= CHECK_SECONDS:
                    scorer.check()
                    checked = time.monotonic()
        finally:
            server.shutdown()
            thread.join(SHUTDOWN_TIMEOUT_S)
            server.server_close()
    if server.ended_by is not None:
        raise WorkerFailed(str(server.ended_by)) from server.ended_by


def _scorer(run: Run, found: Checkpoint, model: Agent, read_version: ReadVersion) -> AbstractContextManager[Scorer]:
    if run.config.runtime.kind == "in_process":
        return nullcontext(LocalScorer(learned_reward(model, found.step, scoring_device(run)), read_version))
    prepare_ray(run.config.runtime.address)
    from interplay.runtime.ray.replicated_scorer import replicated  # importing Ray takes half a second

    # The weights rather than the path: saving newer checkpoints deletes old ones.
    served = RewardModel(dict(found.description), export_weights(model), found.step)
    make = partial(_scoring_replica, run, served)
    return replicated(make, found.step, read_version, run.config.runtime, run.crashes)


def _scoring_replica(run: Run, model: RewardModel, newer: Weights | None = None, version: int = 0) -> ScoringReplica:
    function = build_reward_function(run, model, scoring_device(run, "auto"))  # a replica sees only its own GPUs
    if newer is not None:
        function.load_version(newer, version)
    return ScoringReplica(function)
