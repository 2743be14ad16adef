"""Agents built from checkpoints, and the description of an agent that a checkpoint holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.sizes import AgentConfig
from interplay.agent.weights import misfit
from interplay.core.renamed_settings import with_current_names
from interplay.core.settings_validation import build_config
from interplay.env.world import WorldSpec
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.checkpoint import Checkpoint, CheckpointError, read


def describe_agent(agent: Agent, vocabulary: Vocabulary) -> dict[str, Any]:
    """The description of an agent in a checkpoint, sufficient to rebuild it."""
    description = {
        "agent": asdict(agent.config),
        "world": asdict(agent.layout.world),
        "vocabulary": vocabulary.to_json(),
        "utility": agent.utility is not None,
        "marks": agent.marks is not None,
        "role": agent.layout.role,
    }
    plain: dict[str, Any] = json.loads(json.dumps(description))  # tuples become lists, as they will when read back
    return plain


def check_same_agent(checkpoint: Checkpoint, wanted: Mapping[str, Any]) -> None:
    """Check that a checkpoint is of the agent that `describe_agent` describes as `wanted`.

    Raises:
        CheckpointError: it is of another agent; the message lists what differs.
    """
    check_description(checkpoint)
    different = []
    described = [read_description(each) for each in (checkpoint.description, wanted)]
    (_, there, their_words), (_, here, our_words) = described
    for part in ("agent", "world"):
        theirs, ours = (_settings(config, layout)[part] for config, layout, _ in described)
        different += [
            f"{part}.{key} is {theirs.get(key)!r} there, {ours.get(key)!r} here"
            for key in sorted({*theirs, *ours})
            if theirs.get(key) != ours.get(key)
        ]
    if checkpoint.description["utility"] != wanted["utility"]:
        different.append("only one of them has a utility head")
    if checkpoint.description.get("marks", False) != wanted.get("marks", False):
        different.append("only one of them predicts marks")
    if there.role != here.role:
        different.append(f"it plays the {there.role} there, the {here.role} here")
    if their_words != our_words:
        different.append("the vocabularies differ")
    if different:
        raise CheckpointError(
            f"the checkpoint {checkpoint.path} is of another agent: {'; '.join(different)}. "
            "Choose the agent and world that it was trained with, or train this one from its own start."
        )


def _settings(config: AgentConfig, layout: Layout) -> dict[str, Any]:
    """The settings of an agent and its world; those newer than its checkpoint have their defaults."""
    plain: dict[str, Any] = json.loads(json.dumps({"agent": asdict(config), "world": asdict(layout.world)}))
    return plain


def read_description(description: Mapping[str, Any]) -> tuple[AgentConfig, Layout, Vocabulary]:
    """The settings, layout and vocabulary of a checkpoint's agent, without building its network."""
    config = build_config(AgentConfig, with_current_names(description["agent"], "agent"), "agent")
    world = build_config(WorldSpec, with_current_names(description["world"], "world"), "world")
    layout = Layout(world, config.utterance_length, config.actions_per_step, str(description.get("role", "")))
    return config, layout, Vocabulary.from_json(description["vocabulary"])


def check_description(checkpoint: Checkpoint) -> Checkpoint:
    """Returns the checkpoint if its description is enough to build its agent.

    Raises:
        CheckpointError: the description lacks something or holds something else.
    """
    try:
        read_description(checkpoint.description)
        bool(checkpoint.description["utility"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(
            f"{checkpoint.path / 'checkpoint.json'} is damaged: {problem}. Remove {checkpoint.path}; the same command "
            "then continues from the checkpoint before it, or trains again"
        ) from error
    return checkpoint


def check_same_world(found: Checkpoint, spec: WorldSpec) -> Checkpoint:
    """Returns a checkpoint if its agent fits the observations and actions of this world.

    Raises:
        CheckpointError: it is of another world; the message lists what differs.
    """
    here, there = json.loads(json.dumps(asdict(spec))), found.description["world"]
    different = [
        f"{key} is {there.get(key)!r} there, {here[key]!r} here" for key in here if there.get(key) != here[key]
    ]
    if different:
        raise CheckpointError(
            f"the agent of {found.path} is for another world: {'; '.join(different)}. Choose the env.* settings that "
            "it was trained with, or another checkpoint"
        )
    return found


def build_agent(
    description: Mapping[str, Any], head: Literal["utility", "marks", "none"] | None = None
) -> tuple[Agent, Vocabulary]:
    """Build the agent that a checkpoint describes, with random weights; `head` overrides its head of a reward model."""
    config, layout, vocabulary = read_description(description)
    has = {each: description.get(each, False) if head is None else head == each for each in ("utility", "marks")}
    return Agent(config, layout, len(vocabulary), **has), vocabulary


def load_agent(path: Path | str) -> tuple[Agent, Vocabulary]:
    """The agent of the newest checkpoint at `path`, which may also be the folder of a stage, as runs/demo/clone.

    Raises:
        CheckpointError: no checkpoint exists, or it can't be read.
    """
    checkpoint = check_description(read(Path(path)))
    agent, vocabulary = build_agent(checkpoint.description)
    agent.load_state_dict(fitting_weights(checkpoint, agent))
    return agent, vocabulary


def fitting_weights(checkpoint: Checkpoint, agent: Agent, heads: tuple[str, ...] = ()) -> dict[str, Tensor]:
    """The weights of a checkpoint whose description is that of `agent`; those of `heads` only one of them may have.

    Raises:
        CheckpointError: the file of the weights can't be read, or has weights of another agent.
    """
    weights = checkpoint.weights()
    if wrong := misfit(agent, weights, may_lack=heads, may_add=heads):
        raise CheckpointError(
            f"{checkpoint.path / 'agent.pt'} has the weights of another agent than checkpoint.json there describes "
            f"({wrong}). Remove {checkpoint.path}; the same command then continues from the checkpoint before it, or "
            "trains again"
        )
    return weights


def fitting_training(checkpoint: Checkpoint, agent: Agent) -> dict[str, Any]:
    """The state of a checkpoint that only a resume needs, whose description is that of `agent`.

    Raises:
        CheckpointError: its file can't be read, or its learner's tensors are of another agent.
    """
    training = checkpoint.training()
    if wrong := _learner_misfit(agent, training["learner"]):
        raise CheckpointError(
            f"{checkpoint.path / 'training.pt'} has the learner's state of another agent than checkpoint.json there "
            f"describes ({wrong}). Remove {checkpoint.path}; the same command then continues from the checkpoint "
            "before it, or trains again"
        )
    return training


def _learner_misfit(agent: Agent, state: Mapping[str, Any]) -> str:
    """Which tensors of a `Learner.state` have another shape than `agent` needs; empty if all fit."""
    optimizer, parameters = state["optimizer"], list(agent.named_parameters())
    optimized = sum(len(group["params"]) for group in optimizer["param_groups"])
    if optimized != len(parameters):
        return f"Adam's state is of {optimized} parameters, the agent has {len(parameters)}"
    shapes = [
        (f"{moment} of {name}", tuple(saved[moment].shape), tuple(parameter.shape))
        for number, (name, parameter) in enumerate(parameters)
        if (saved := optimizer["state"].get(number))  # none of a parameter that no loss has reached
        for moment in ("exp_avg", "exp_avg_sq")
    ]
    states: dict[str, Iterable[Tensor]] = {"dataset_state": agent.initial_state(1)}
    if agent.marks is not None:
        states["mark_state"] = agent.marks.initial_state(1)
    for name, fresh in states.items():
        lanes = len(state[name][0])
        shapes += [
            (name, tuple(saved.shape), (lanes, *own.shape[1:])) for saved, own in zip(state[name], fresh, strict=False)
        ]
    wrong = [f"{name} {there} into {here}" for name, there, here in shapes if there != here]
    return f"shapes: {wrong[:5]}" if wrong else ""
