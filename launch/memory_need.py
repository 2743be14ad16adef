"""Memory that a stage needs at the least, compared with what this machine has before anything starts.

Counted are the arrays of the unrolls, the weights, the activations kept for the backward pass, the worlds and the
requests for episodes. The remaining needs (the interpreter, caches, copies) are smaller and are not counted, so a
stage that passes may still run out of memory, but one that is refused would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import torch

from interplay.agent.network import Agent, fold_time
from interplay.agent.observation import Layout
from interplay.agent.sizes import AgentConfig
from interplay.agent.unroll import allocate_demonstration, allocate_rollout
from interplay.core.settings_group import settings_group
from interplay.core.settings_validation import SettingsError
from interplay.env import registry
from interplay.launch.machine import total_memory
from interplay.learner.config import LearnerConfig
from interplay.learner.device import find_device
from interplay.stages.config import Config

GIGABYTE = 1e9
WORDS = 500  # assumed size of the vocabulary; embeddings are a small part of the weights
WORLD_BYTES = 600_000  # one world after its first reset, measured with one room of the Playhouse
REQUEST_BYTES = 1_400  # one episode that is still to be recorded or played: its seeds and random stream, measured
COPIES_OF_WEIGHTS = 4  # the weights, their gradients and the two moments of Adam
# Share of the estimated activations that is certain. Measured peaks of one update: 1.5 times the estimate with the nano
# agent (816 rows of 72x96), 0.85 times with 5m (44 rows), where the CPU's attention keeps no scores.
CERTAIN = 0.75


def refuse_too_large(config: Config, stage: str, root: Path = Path("/")) -> None:
    """Refuses a stage that cannot fit into the memory of this machine.

    Under Ray with the address of a cluster nothing is checked: the stage runs elsewhere.

    Raises:
        SettingsError: the stage needs more memory than there is; the message shows the arithmetic and what to change.
    """
    available = total_memory(root)
    if available is None or (config.runtime.kind == "ray" and config.runtime.address is not None):
        return
    needs = dict(_needs(config, stage))
    if sum(needs.values()) <= available:
        return
    terms = " + ".join(f"{size / GIGABYTE:,.1f} GB for {what}" for what, size in needs.items())
    raise SettingsError(
        [
            f"{stage} needs at least {sum(needs.values()) / GIGABYTE:,.1f} GB of memory, and this machine has "
            f"{available / GIGABYTE:,.1f} GB: {terms}; {_remedy(stage)}"
        ]
    )


def _needs(config: Config, stage: str) -> Iterator[tuple[str, float]]:
    """What the memory is for, and bytes."""
    stage = settings_group(stage)
    if stage in ("collect", "collect_agent"):
        collect = config.collect if stage == "collect" else config.collect_agent
        episodes = collect.episodes + collect.heldout
        yield f"{episodes:,} episodes to record", float(episodes * REQUEST_BYTES)
        yield f"{min(collect.lanes, episodes):,} worlds", float(min(collect.lanes, episodes) * WORLD_BYTES)
    elif stage == "evaluate":
        yield f"{config.evaluate.episodes:,} probes of each kind", float(config.evaluate.episodes * REQUEST_BYTES)
        yield f"{config.evaluate.lanes:,} worlds", float(config.evaluate.lanes * WORLD_BYTES)
    elif stage in ("clone", "reward", "reinforce"):
        yield from _training_needs(config, stage)


def _training_needs(config: Config, stage: str) -> Iterator[tuple[str, float]]:
    learner: LearnerConfig = getattr(config, stage).learner
    dataset = getattr(config, stage).dataset
    settings = dict(config.env)
    world = registry.make(settings.pop("name"), **settings)
    layout = Layout(world.spec, config.agent.utterance_length, config.agent.actions_per_step)
    world.close()
    unrolls = [(dataset, allocate_demonstration)]
    if stage == "reinforce":
        actor = config.reinforce.actor
        unrolls = [(actor, allocate_rollout), *(unrolls if learner.objective.weights.needs_demonstrations else [])]
        yield f"{actor.lanes:,} worlds", float(actor.lanes * WORLD_BYTES)
    rows = 0  # with activations at a time
    for block, allocate in unrolls:
        row_bytes = sum(array.nbytes for array in allocate(layout, 0, 1).values())
        rows += block.lanes * (block.steps + 1) // learner.accumulate
        yield (
            f"unrolls ({block.blocks} x {block.lanes:,} lanes x {block.steps + 1:,} rows x {row_bytes:,} bytes)",
            float(block.blocks * block.lanes * (block.steps + 1) * row_bytes),
        )
    weights, activations = _network_bytes(config.agent, layout, utility=stage == "reward")
    yield "the network and its optimizer", float(COPIES_OF_WEIGHTS * weights)
    if find_device(learner.device).type == "cpu":
        share = CERTAIN / max(1, learner.recompute) / (2 if learner.precision == "bf16" or learner.compile else 1)
        yield f"activations ({rows:,} rows x {share * activations:,.0f} bytes)", rows * share * activations


@lru_cache  # a pipeline asks for each of its stages
def _network_bytes(sizes: AgentConfig, layout: Layout, *, utility: bool) -> tuple[int, int]:
    """Bytes of the weights, and of what autograd keeps of one row; counted on a device that holds no data.

    Raises:
        SettingsError: a weight has more elements than can be addressed.
    """
    try:
        with torch.device("meta"):
            agent = Agent(sizes, layout, WORDS, utility=utility)
            row = {name: torch.from_numpy(array).to("meta") for name, array in layout.observations(1, 1).items()}
    except (RuntimeError, OverflowError) as error:
        raise SettingsError([f"agent: a network of these sizes fits into no memory ({error}); lower them"]) from error
    weights = {weight.untyped_storage()._cdata for weight in agent.parameters()}
    kept: dict[int, torch.Tensor] = {}  # one tensor of each storage

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.setdefault(tensor.untyped_storage()._cdata, tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        agent.encode(fold_time(row))
    activations = sum(t.untyped_storage().nbytes() for storage, t in kept.items() if storage not in weights)
    return sum(weight.numel() * weight.element_size() for weight in agent.parameters()), activations


def _remedy(stage: str) -> str:
    stage = settings_group(stage)
    if stage in ("clone", "reward", "reinforce"):
        lanes = f"{stage}.dataset.lanes" + (" or reinforce.actor.lanes" if stage == "reinforce" else "")
        return (
            f"lower {lanes} or the steps of an unroll ({stage}.dataset.steps), choose a smaller agent, as agent=nano, "
            f"or keep fewer activations, as with {stage}.learner.accumulate=2 or {stage}.learner.recompute=10"
        )
    return f"lower {stage}.lanes or {stage}.episodes"
