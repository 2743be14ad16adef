"""The learner: its loss terms, one forward for all lanes, and exact resumption."""

from __future__ import annotations

import copy
import dataclasses
import io
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import TINY, WORDS, LineWorld, tiny_agent
from random_unrolls import LANES, STEPS, demonstrated, learner_of, rollout, weighing
from torch.nn.functional import softplus

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.unroll import Unroll
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import LossWeights, ObjectiveConfig

CLONING = {"movement_cloning", "language_cloning", "css"}
PLAYING = {"movement_policy", "language_policy", "value", "gate_kl"}


def test_css_after_the_transformer_is_the_slow_cross_entropy_of_pairs() -> None:
    agent = tiny_agent(LineWorld(), config=dataclasses.replace(TINY, text_film=False, css_input="transformer"))
    shown = demonstrated(agent)
    observations = {key: torch.from_numpy(shown.arrays[key]) for key in agent.layout.observations(0, 0)}
    output, _ = agent(observations, agent.initial_state(LANES))
    texts = torch.from_numpy(np.concatenate([shown.arrays["heard"], shown.arrays["said"]], -1))
    other = shuffled_lanes(LANES, torch.Generator().manual_seed(0))
    assert output.vision is not None
    same, different = [], []
    with torch.no_grad():
        for t, b in np.ndindex(*texts.shape[:2]):
            pair, wrong = (agent.match(output.vision[t, b][None], texts[t, lane][None]) for lane in (b, other[b]))
            same += [float(softplus(-pair))] if texts[t, b].any() else []
            readable = texts[t, other[b]].any() and not torch.equal(texts[t, other[b]], texts[t, b])
            different += [float(softplus(wrong))] if readable else []
    found = learner_of(agent).update(demonstrated=shown)["css"]
    assert found == pytest.approx((np.mean(same) + np.mean(different)) / 2, rel=1e-4)


def weights_of(agent: Agent) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in agent.state_dict().items()}


def changed(agent: Agent, before: dict[str, torch.Tensor]) -> set[str]:
    return {name for name, tensor in agent.state_dict().items() if not torch.equal(tensor, before[name])}


WORLDS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "whole": ({}, CLONING | PLAYING),
    "mute": ({"utterances": False}, {"movement_cloning", "movement_policy", "value"}),
    "still": ({"movement": False}, {"language_cloning", "css", "language_policy", "value", "gate_kl"}),
    "dark": ({"image": False}, {"movement_cloning", "language_cloning"} | PLAYING),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("utility", [False, True])
def test_the_terms_are_those_of_the_worlds_parts(name: str, utility: bool) -> None:
    parts, expected = WORLDS[name]
    agent = tiny_agent(LineWorld(**parts), utility=utility)
    metrics = learner_of(agent).update(demonstrated=demonstrated(agent), rollout=rollout(agent))
    terms = set(metrics) & (CLONING | PLAYING | {"ibt"})
    assert terms == expected | ({"ibt"} if utility else set())
    assert all(np.isfinite(value) for value in metrics.values())
    weights = vars(LossWeights())
    assert metrics["loss"] == pytest.approx(sum(weights[term] * metrics[term] for term in terms), rel=1e-5)
    alone = learner_of(agent).update(demonstrated=demonstrated(agent))
    assert not set(alone) & PLAYING


def test_one_update_changes_every_weight_that_has_a_term() -> None:
    agent = tiny_agent(LineWorld(), utility=True)
    before, learner = weights_of(agent), learner_of(agent)
    learner.update(demonstrated=demonstrated(agent), rollout=rollout(agent))
    # IBT depends on differences of utility only, so a constant added to it has a gradient of rounding errors only.
    constant = {"utility.layers.2.bias"}
    assert changed(agent, before) - constant == {name for name, _ in agent.named_parameters()} - constant
    assert learner.updates == 1


@pytest.mark.parametrize("head", ["utility", "marks"])
def test_batches_without_marks_have_no_share_of_them_that_is_right(head: str) -> None:
    """A share of 0 would count as the worst one in the mean over updates."""
    layout = tiny_agent(LineWorld()).layout
    agent = Agent(TINY, layout, len(WORDS), **{head: True})
    shares = {"utility": {"ibt", "ibt_accuracy", "ibt_margin"}, "marks": {"marks_sign_accuracy"}}[head]
    learner, shown = learner_of(agent), demonstrated(agent)
    assert shares <= set(learner.update(demonstrated=shown))
    shown.arrays["positive"][:] = 0
    metrics = learner.update(demonstrated=shown)
    assert not shares & set(metrics) and metrics[{"utility": "ibt_pairs", "marks": "marks_seen"}[head]] == 0
    assert ("marks" in metrics) == (head == "marks"), "rows without a mark are examples of none"


def test_a_term_of_weight_0_is_left_out() -> None:
    agent = tiny_agent(LineWorld())
    before = weights_of(agent)
    silent = learner_of(agent, weighing(css=0, language_policy=0, gate_kl=0, language_cloning=0))
    metrics = silent.update(demonstrated=demonstrated(agent), rollout=rollout(agent))
    assert set(metrics) & (CLONING | PLAYING) == {"movement_cloning", "movement_policy", "value"}
    assert not any(name.startswith(("css", "language")) for name in changed(agent, before))
    with pytest.raises(ValueError, match=r"at least 0, got css=-1"):
        LossWeights(css=-1)
    with pytest.raises(ValueError, match="all loss weights are 0"):
        LossWeights(**dict.fromkeys(vars(LossWeights()), 0.0))


def test_weights_of_absent_terms_are_refused() -> None:
    agent = tiny_agent(LineWorld())
    learner = learner_of(agent, weighing(movement_cloning=0, language_cloning=0, css=0))
    with pytest.raises(ValueError, match=r"none of the losses .*value=1.* is shown episodes and does not play"):
        learner.update(demonstrated=demonstrated(agent))
    assert "value" in learner.update(demonstrated=demonstrated(agent), rollout=rollout(agent))


def test_an_agent_that_only_speaks_is_advised_to_clone_words() -> None:
    spec = dataclasses.replace(LineWorld().spec, movement=())
    agent = Agent(TINY, Layout(spec, TINY.utterance_length, 1), len(WORDS))
    learner = learner_of(agent, weighing(language_cloning=0, css=0))
    with pytest.raises(ValueError, match=r"movement_cloning=1, .* a weight, as .*\.weights\.language_cloning=1"):
        learner.update(demonstrated=demonstrated(agent))


@pytest.mark.parametrize("broken", ["reward", "weight"])
def test_a_loss_that_is_not_finite_is_refused(broken: str) -> None:
    agent = tiny_agent(LineWorld())
    earned = rollout(agent)
    if broken == "reward":
        earned.arrays["reward"][2, 1] = np.inf
    else:
        with torch.no_grad():
            agent.value.layers[2].bias.fill_(float("nan"))  # type: ignore[union-attr]
    before, learner = weights_of(agent), learner_of(agent)
    with pytest.raises(FloatingPointError, match=r"update 1 is .*value=(inf|nan)"):
        learner.update(demonstrated=demonstrated(agent), rollout=earned)
    assert all(torch.equal(a.nan_to_num(9), before[name].nan_to_num(9)) for name, a in agent.state_dict().items())
    assert learner.updates == 0


def test_a_gradient_that_is_not_finite_is_refused() -> None:
    """The loss itself may be finite."""
    agent = tiny_agent(LineWorld())
    before, learner = weights_of(agent), learner_of(agent)
    agent.value.layers[2].bias.register_hook(lambda gradient: gradient * float("inf"))  # type: ignore[union-attr]
    with pytest.raises(FloatingPointError, match="gradient of update 1"):
        learner.update(demonstrated=demonstrated(agent), rollout=rollout(agent))
    assert not changed(agent, before)


def test_it_resumes_bit_for_bit() -> None:
    agent = tiny_agent(LineWorld(), utility=True)
    straight = learner_of(agent, LearnerConfig(learning_rate=1e-3, warm_up=5, gradient_clip=1.0))
    for number in range(3):
        straight.update(demonstrated=demonstrated(agent, number), rollout=rollout(agent, number))
    file = io.BytesIO()
    torch.save(straight.state(), file)
    other = tiny_agent(LineWorld(), seed=1, utility=True)
    other.load_state_dict(copy.deepcopy(agent.state_dict()))
    resumed = learner_of(other, straight.config, seed=9)
    file.seek(0)
    resumed.load_state(torch.load(file, weights_only=True))
    for number in range(3, 6):
        rows, earned = demonstrated(agent, number), rollout(agent, number)
        assert straight.update(demonstrated=rows, rollout=earned) == resumed.update(demonstrated=rows, rollout=earned)
    assert not changed(other, weights_of(agent))
    assert resumed.updates == straight.updates == 6


def test_dataset_lanes_carry_their_memory_across_unrolls() -> None:
    """With a tiny learning rate, three consecutive unrolls equal one long forward."""
    agent = tiny_agent(LineWorld())
    config = LearnerConfig(ObjectiveConfig(LossWeights(css=0)), learning_rate=1e-30)
    made = [demonstrated(agent, seed) for seed in range(3)]
    long = {key: np.concatenate([unroll.arrays[key] for unroll in made]) for key in made[0].arrays}
    long["first"][STEPS + 1 :] = False  # so that the memory affects every later row
    for number, unroll in enumerate(made):
        unroll.arrays["first"][:] = long["first"][number * (STEPS + 1) :][: STEPS + 1]
    learner = learner_of(agent, config)
    parts = [learner.update(demonstrated=unroll)["movement_cloning"] for unroll in made]
    counts = [int((unroll.arrays["cloned"] & ~unroll.arrays["last"]).sum()) for unroll in made]
    whole = learner_of(agent, config).update(demonstrated=Unroll(long))["movement_cloning"]
    assert np.dot(parts, counts) / sum(counts) == pytest.approx(whole, rel=1e-5)
    forgetful = learner_of(agent, config).update(demonstrated=made[2])["movement_cloning"]
    assert abs(forgetful - parts[2]) > 1e-4


def test_joined_lanes_learn_as_separate_ones_do() -> None:
    """Rollout and demonstrated lanes in one forward have the same terms and states as each alone."""
    agent = tiny_agent(LineWorld())
    config = LearnerConfig(learning_rate=1e-30)
    rows, earned = demonstrated(agent), rollout(agent)
    joined = learner_of(agent, config)
    metrics = joined.update(demonstrated=rows, rollout=earned)
    alone = learner_of(agent, config)
    cloned = alone.update(demonstrated=rows)
    for name in set(cloned) - {"loss", "gradient_norm"}:
        assert metrics[name] == pytest.approx(cloned[name], rel=1e-4), name
    for one, other in zip(joined.state()["dataset_state"], alone.state()["dataset_state"], strict=True):
        torch.testing.assert_close(one, other)
    other_rows = learner_of(agent, config).update(demonstrated=demonstrated(agent, 5), rollout=earned)
    for name in PLAYING | {"ratio", "movement_ratio", "language_clipped", "value_mean"}:
        assert metrics[name] == pytest.approx(other_rows[name], rel=1e-4), name


def test_batches_without_an_utterance_have_no_loss_of_words() -> None:
    """A loss of 0 would count as the best one in the mean over updates."""
    agent = tiny_agent(LineWorld())
    learner, rows = learner_of(agent), demonstrated(agent)
    spoken = learner.update(demonstrated=rows)
    assert spoken["utterances"] > 0 and spoken["token_cloning"] > 0
    for name in ("spoke", "tokens"):
        rows.arrays[name][:] = 0
    silent = learner.update(demonstrated=rows)
    assert silent["utterances"] == 0 and "token_cloning" not in silent
    assert silent["language_cloning"] == pytest.approx(silent["gate_cloning"])


def test_words_may_be_cloned_where_movement_and_gate_are_not() -> None:
    """The losses are those of the rows that they count, and a mean over utterances."""
    words_alone, streams = demonstrated(tiny_agent(LineWorld())), demonstrated(tiny_agent(LineWorld()))
    words_alone.arrays["words_cloned"] = words_alone.arrays["cloned"]
    words_alone.arrays["cloned"] = words_alone.arrays["cloned"] & (np.arange(LANES) > 0)
    streams.arrays["cloned"] = words_alone.arrays["cloned"]
    whole = demonstrated(tiny_agent(LineWorld()))
    found, fewer, all_rows = (
        learner_of(tiny_agent(LineWorld())).update(demonstrated=rows) for rows in (words_alone, streams, whole)
    )
    for name in ("movement_cloning", "gate_cloning"):
        assert found[name] == pytest.approx(fewer[name]) and found[name] != pytest.approx(all_rows[name])
    assert found["token_cloning"] == pytest.approx(all_rows["token_cloning"])
    assert found["token_cloning"] != pytest.approx(fewer["token_cloning"])


def test_weights_are_a_copy() -> None:
    agent = tiny_agent(LineWorld())
    learner = learner_of(agent)
    taken = learner.weights()
    kept = {name: array.copy() for name, array in taken.items()}
    learner.update(demonstrated=demonstrated(agent))
    assert all(np.array_equal(taken[name], kept[name]) for name in kept)
    assert not np.array_equal(learner.weights()["memory.recurrent"], kept["memory.recurrent"])


def test_without_demonstrations_only_rollouts_are_learned_from() -> None:
    weights = LossWeights(movement_cloning=0, language_cloning=0, css=0)
    config = LearnerConfig(learning_rate=1e-3, objective=ObjectiveConfig(weights=weights))
    told = []
    for lanes in (LANES, 0):
        agent = tiny_agent(LineWorld())
        learner = Learner(agent, config, dataset_lanes=lanes, generator=torch.Generator())
        told.append(learner.update(demonstrated=demonstrated(agent) if lanes else None, rollout=rollout(agent)))
    assert PLAYING - {"gate_kl"} <= set(told[1]) and not CLONING & set(told[1])
    assert told[1] == pytest.approx(told[0], rel=1e-4)  # the norm of the gradient among them
