"""Memory that a stage needs at the least, compared with what this machine and its GPU have, before anything starts.

Counted are the arrays of the unrolls, the weights, the activations kept for the backward pass, the worlds, the
requests for episodes and the processes of `workers`. The remaining needs (the interpreter, caches, copies) are smaller
and are not counted: a stage that passes may still run out of memory, but one that is refused certainly would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

import torch

from interplay.actors.dataset_actor import DatasetConfig
from interplay.actors.setter_replay_actor import SetterReplayConfig
from interplay.agent.network import Agent, fold_time
from interplay.agent.observation import Layout
from interplay.agent.sizes import SIZES, AgentConfig
from interplay.agent.unroll import allocate_demonstration, allocate_rollout
from interplay.core.settings_group import settings_group
from interplay.core.settings_validation import SettingsError
from interplay.launch.idle_cores import SECTIONS
from interplay.launch.machine import total_memory
from interplay.learner.config import LearnerConfig
from interplay.learner.device import Unavailable, find_device
from interplay.stages.baselines import baseline_config, baseline_of
from interplay.stages.config import Config
from interplay.stages.run import Run
from interplay.stages.shared_parts import recorded_views

GIGABYTE = 1e9
TRAINED = ("clone", "reward", "reinforce")  # the stages with a learner
WORDS = 500  # assumed size of the vocabulary; embeddings are a small part of the weights
WORLD_BYTES = 600_000  # one world after its first reset, measured with one room of the Playhouse
PROCESS_BYTES = 100_000_000  # one process of `workers`, or the actor's own, measured with one room of the Playhouse
REQUEST_BYTES = 1_400  # one episode that is still to be recorded or played: its seeds and random stream, measured
COPIES_OF_WEIGHTS = 4  # the weights, their gradients and the two moments of Adam
# Share of the estimated activations that is certain. Measured peaks of one update: 1.5 times the estimate with the nano
# agent (816 rows of 72x96), 0.70 to 0.76 times with 5m (102 rows), where the CPU's attention keeps no scores.
CERTAIN = 0.6


@dataclass(frozen=True)
class MemoryNeed:
    """What a stage needs at the least of one memory, and how large that memory is."""

    stage: str
    where: str  # the owner of the memory: this machine, or its GPU
    needs: Mapping[str, float]  # bytes, by what they are for
    available: float  # bytes
    remedy: str  # what to change if it does not fit

    @property
    def total(self) -> float:
        """Bytes of all needs."""
        return sum(self.needs.values())

    @property
    def fits(self) -> bool:
        """Whether the memory may suffice."""
        return self.total <= self.available

    @property
    def problem(self) -> str:
        """The arithmetic, and what to change."""
        terms = " + ".join(f"{size / GIGABYTE:,.1f} GB for {what}" for what, size in self.needs.items())
        return (
            f"{self.stage} needs at least {self.total / GIGABYTE:,.1f} GB of memory, and {self.where} has "
            f"{self.available / GIGABYTE:,.1f} GB: {terms}; {self.remedy}"
        )


def gpu_memory(device: str) -> int | None:
    """Bytes of memory of the GPU that a learner's `device` names here; None if it names none."""
    if device == "cpu" or not torch.cuda.is_available() or find_device(device).type != "cuda":
        return None
    return int(torch.cuda.mem_get_info(find_device(device))[1])


def refuse_too_large(
    config: Config, stage: str, root: Path = Path("/"), gpu: Callable[[str], int | None] = gpu_memory
) -> None:
    """Refuses a stage that cannot fit into the memory of this machine, or of its GPU.

    Raises:
        SettingsError: the stage needs more memory than there is; the message shows the arithmetic and what to change.
    """
    _refuse(memory_needs(config, stage, root, gpu))


def refuse_too_large_baselines(config: Config, root: Path = Path("/")) -> None:
    """As `refuse_too_large`, for the baselines whose network differs in size from that of the run."""
    _refuse(needs_of_other_sizes(config, root))


def needs_of_other_sizes(config: Config, root: Path = Path("/")) -> list[MemoryNeed]:
    """The memory needs of the baselines whose network differs in size from that of the run."""
    others = [name for name in config.baselines if baseline_config(config, name).agent != config.agent]
    return _baseline_needs(config, others, root)


def fit_together(config: Config, root: Path) -> bool:
    """Whether the largest stage of a run with a learner and its largest baseline may fit into the memory at once."""
    stages = [need for stage in TRAINED for need in memory_needs(config, stage, root)]
    baselines = _baseline_needs(config, config.baselines, root)
    for where in {need.where for need in stages}:
        largest = [
            max((need.total for need in needs if need.where == where), default=0.0) for needs in (stages, baselines)
        ]
        if sum(largest) > min(need.available for need in stages if need.where == where):
            return False
    return True


def _refuse(needs: Iterable[MemoryNeed]) -> None:
    problems = [need.problem for need in needs if not need.fits]
    if problems:
        raise SettingsError(problems)


def _baseline_needs(config: Config, names: Iterable[str], root: Path) -> list[MemoryNeed]:
    """The memory needs of the stages of these baselines; see `memory_needs`."""
    found = []
    for name in names:
        own = baseline_config(config, name)
        for stage in baseline_of(config, name).stages:
            for need in memory_needs(own, stage, root):
                remedy = f"{need.remedy}, or leave {name} out of baselines"
                found.append(replace(need, stage=f"{stage} of {name}", remedy=remedy))
    return found


def memory_needs(
    config: Config, stage: str, root: Path = Path("/"), gpu: Callable[[str], int | None] = gpu_memory
) -> list[MemoryNeed]:
    """What a stage needs of each memory whose size is known here.

    Empty under Ray with the address of a cluster: the stage runs elsewhere.
    """
    if config.runtime.kind == "ray" and config.runtime.address is not None:
        return []
    group, found = settings_group(stage), list[MemoryNeed]()
    on_gpu = gpu(getattr(config, group).learner.device) if group in TRAINED else None
    if (available := total_memory(root)) is not None:
        needs = dict(_host_needs(config, group, with_network=on_gpu is None))
        if count := _processes(config, stage):
            needs[f"{count:,} processes of {SECTIONS[stage]}.workers"] = float(count * PROCESS_BYTES)
        found.append(MemoryNeed(stage, "this machine", needs, available, remedy(config, stage)))
    if on_gpu is not None:
        needs = dict(_gpu_needs(config, group))
        found.append(MemoryNeed(stage, "its GPU", needs, on_gpu, _gpu_remedy(config, group, on_gpu)))
    return found


def _host_needs(config: Config, stage: str, *, with_network: bool) -> Iterator[tuple[str, float]]:
    """The needs of a stage on the host: what each is for, and its bytes."""
    if stage in ("collect", "collect_agent"):
        collect = config.collect if stage == "collect" else config.collect_agent
        episodes = collect.episodes + collect.heldout
        yield f"{episodes:,} episodes to record", float(episodes * REQUEST_BYTES)
        yield f"{min(collect.lanes, episodes):,} worlds", float(min(collect.lanes, episodes) * WORLD_BYTES)
    elif stage == "evaluate":
        yield f"{config.evaluate.episodes:,} probes of each kind", float(config.evaluate.episodes * REQUEST_BYTES)
        yield f"{config.evaluate.lanes:,} worlds", float(config.evaluate.lanes * WORLD_BYTES)
    elif stage in TRAINED:
        if stage == "reinforce":
            lanes = config.reinforce.actor.lanes
            yield f"{lanes:,} worlds", float(lanes * WORLD_BYTES)
            if config.runtime.kind == "in_process" and config.runtime.actor_process and config.runtime.overlap:
                yield "the process of the actor", float(PROCESS_BYTES)
        layout = _layout(config)
        for block, device_bytes in _blocks(config, stage, layout):
            row_bytes = _described_bytes(config, stage, layout, block) if _sends_poses(config, block) else device_bytes
            yield (
                f"unrolls ({block.blocks} x {block.lanes:,} lanes x {block.steps + 1:,} rows x {row_bytes:,} bytes)",
                float(block.blocks * block.lanes * (block.steps + 1) * row_bytes),
            )
        if with_network:
            yield from _update_needs(config, stage, layout, ranks=1)


def _processes(config: Config, stage: str) -> int:
    """How many processes of `workers` a stage starts: no more than there are units of its work."""
    if stage not in SECTIONS:
        return 0
    if stage == "evaluate":
        probes = config.evaluate.episodes * max(1, len(config.evaluate.kinds))
        return min(config.evaluate.workers, ceil(probes / config.evaluate.lanes))
    if stage == "continue":
        continuations = config.continuation.scenarios * config.continuation.continuations
        return min(config.continuation.workers, ceil(continuations / config.continuation.lanes))
    collect = config.collect_agent if stage == "collect-agent" else config.collect
    episodes = collect.episodes + collect.heldout
    if stage == "mark":
        return min(config.mark.workers, episodes * len(config.mark.raters))
    return min(collect.workers, episodes if collect.solver == "scripted" else ceil(episodes / collect.lanes))


def _gpu_needs(config: Config, stage: str) -> Iterator[tuple[str, float]]:
    """The needs of a learner on its GPU: what each is for, and its bytes. Each rank has a GPU of its own."""
    layout, ranks = _layout(config), config.runtime.learners if config.runtime.kind == "ray" else 1
    rows = [(block.lanes * (block.steps + 1), row_bytes) for block, row_bytes in _blocks(config, stage, layout)]
    yield "the batch", float(sum(count * row_bytes for count, row_bytes in rows)) / ranks
    yield from _update_needs(config, stage, layout, ranks)
    if stage == "reinforce" and config.runtime.kind == "in_process":
        weights, _ = _network_bytes(config.agent, layout, utility=True)
        yield "the reward model and the reference policy", 2.0 * weights


def _update_needs(config: Config, stage: str, layout: Layout, ranks: int) -> Iterator[tuple[str, float]]:
    """The needs of the network of one rank and of its backward pass: what each is for, and its bytes."""
    learner: LearnerConfig = getattr(config, stage).learner
    rows = sum(block.lanes * (block.steps + 1) for block, _ in _blocks(config, stage, layout))
    rows = rows // ranks // learner.accumulate
    weights, activations = _network_bytes(config.agent, layout, utility=stage == "reward")
    yield "the network and its optimizer", float(COPIES_OF_WEIGHTS * weights)
    share = CERTAIN / max(1, learner.recompute) / (2 if learner.precision == "bf16" or learner.compile else 1)
    yield f"activations ({rows:,} rows x {share * activations:,.0f} bytes)", rows * share * activations


def _layout(config: Config) -> Layout:
    with closing(Run(config.run.root, config).make_world()) as world:
        return Layout(world.spec, config.agent.utterance_length, config.agent.actions_per_step)


def _blocks(config: Config, stage: str, layout: Layout) -> list[tuple[Any, int]]:
    """The settings of each kind of unroll in a batch, and the bytes of its rows."""
    settings = getattr(config, stage)
    kinds: list[tuple[Any, Callable[[Layout, int, int], Mapping[str, Any]]]] = []
    if stage == "reinforce":
        kinds.append((settings.actor, allocate_rollout))
    if stage != "reinforce" or settings.learner.objective.weights.needs_demonstrations:
        kinds.append((settings.dataset, allocate_demonstration))
    return [(block, sum(array.nbytes for array in allocate(layout, 0, 1).values())) for block, allocate in kinds]


def draws_pictures(block: Any) -> bool:
    """Whether the learner draws the pictures of these unrolls, so that the host does not hold them."""
    return isinstance(block, DatasetConfig) and block.drawn_by == "learner"


def _sends_poses(config: Config, block: Any) -> bool:
    """Whether the rows of these unrolls hold poses on the host. In process, rollouts hold what a GPU has drawn."""
    if isinstance(block, SetterReplayConfig):
        return block.drawn_by == "gpu" and config.runtime.kind == "ray"
    return draws_pictures(block)


def _described_bytes(config: Config, stage: str, layout: Layout, block: Any) -> int:
    """Bytes of a row from which the learner draws a picture. If it can't draw them, which another check refuses, bytes
    of a row without a picture."""
    allocate = allocate_rollout if isinstance(block, SetterReplayConfig) else allocate_demonstration
    with closing(Run(config.run.root, config).make_world()) as world:
        try:
            length = recorded_views(world, stage).length
        except Unavailable:
            length = 0
    return sum(array.nbytes for array in allocate(layout, 0, 1, length).values())


@lru_cache  # a pipeline asks for each of its stages
def _network_bytes(sizes: AgentConfig, layout: Layout, *, utility: bool) -> tuple[int, int]:
    """Bytes of the weights, and of what autograd keeps of one row; counted on a device that holds no data, unless a
    tower of another package may need some.

    Raises:
        SettingsError: a weight has more elements than can be addressed.
        ValueError: there is no such image tower, or it can't be used.
    """
    device = "cpu" if sizes.image_tower else "meta"
    try:
        with torch.device(device):
            agent = Agent(sizes, layout, WORDS, utility=utility)
            row = {name: torch.from_numpy(array).to(device) for name, array in layout.observations(1, 1).items()}
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


def _gpu_remedy(config: Config, stage: str, available: float) -> str:
    """The fewest parts of a batch that fit; otherwise what else to change."""
    settings = getattr(config, stage)
    lanes = [block.lanes for block, _ in _blocks(config, stage, _layout(config))]
    ranks = config.runtime.learners if config.runtime.kind == "ray" else 1
    for parts in range(settings.learner.accumulate + 1, min(lanes) + 1):
        if any(count % (parts * ranks) for count in lanes):
            continue
        learner = replace(settings.learner, accumulate=parts)
        changed = replace(config, **{stage: replace(settings, learner=learner)})
        need = sum(size for _, size in _gpu_needs(changed, stage))
        if need <= available:
            return f"set {stage}.learner.accumulate={parts}, with which it needs {need / GIGABYTE:,.1f} GB"
    return (
        f"set {stage}.learner.precision=bf16 and {stage}.learner.recompute=10, or lower the lanes and "
        f"{_smaller_agent(config.agent)}"
    )


def remedy(config: Config, stage: str) -> str:
    """What to change so that a stage needs less memory; empty for one that needs nothing that is counted."""
    if stage in SECTIONS:
        section = SECTIONS[stage]
        settings = getattr(config, section)
        sizes = [name for name in ("workers", "lanes", "episodes") if getattr(settings, name, 0)]
        return f"lower {' or '.join(f'{section}.{name}' for name in sizes)}"
    stage = settings_group(stage)
    if stage in TRAINED:
        lanes = f"{stage}.dataset.lanes" + (" or reinforce.actor.lanes" if stage == "reinforce" else "")
        return (
            f"lower {lanes} or the steps of an unroll ({stage}.dataset.steps), {_smaller_agent(config.agent)}, "
            f"or keep fewer activations, as with {stage}.learner.accumulate=2 or {stage}.learner.recompute=10"
        )
    return ""


def _smaller_agent(agent: AgentConfig) -> str:
    """How to make the agent smaller: the next size below its own, or its fields where it is the smallest."""
    smaller = [name for name, size in SIZES.items() if size.width < agent.width]
    if not smaller:
        return "lower the sizes of the agent, as agent.channels=[16,16]"
    return f"choose a smaller agent, as agent={max(smaller, key=lambda name: SIZES[name].width)}"
