"""The learner: its loss terms, one forward for all lanes, and exact resumption."""

from __future__ import annotations

import copy
import dataclasses
import io
from typing import Any, Literal

import numpy as np
import pytest
import torch
from fake_world import TINY, WORDS, LineWorld, tiny_agent
from torch.nn.functional import softplus

from interplay.agent.network import Agent, AgentOutput
from interplay.agent.observation import Arrays, Layout
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll, allocate_demonstration, allocate_rollout
from interplay.learner.batch import to_tensors
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import LossWeights, ObjectiveConfig

STEPS, LANES = 6, 3
CONFIG = LearnerConfig(learning_rate=1e-3)
CLONING = {"movement_cloning", "language_cloning", "css"}
PLAYING = {"movement_policy", "language_policy", "value", "gate_kl"}


def fill(arrays: Arrays, agent: Agent, rng: np.random.Generator) -> None:
    """Random rows of episodes with four or five rows."""
    lead = arrays["first"].shape
    arrays["row"][:] = (np.arange(lead[0])[:, None] + np.arange(lead[1])) % 5
    arrays["first"][:], arrays["last"][:] = arrays["row"] == 0, arrays["row"] == 4
    if "image" in arrays:
        arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["vector"][:] = rng.normal(size=arrays["vector"].shape)
    if "movement" in arrays:
        bins = np.array(agent.layout.bins)
        arrays["movement"][:] = rng.integers(bins, size=arrays["movement"].shape)
        arrays["previous"][:] = rng.integers(bins, size=arrays["previous"].shape)
    if "spoke" in arrays:
        arrays["spoke"][:] = rng.random(lead) < 0.4
        for key in ("heard", "said", "tokens"):
            arrays[key][..., 0] = rng.integers(4, 11, size=lead)
            arrays[key][..., 1] = 3  # the end
        arrays["tokens"][~arrays["spoke"]] = 0


def demonstrated(agent: Agent, seed: int = 0, lanes: int = LANES) -> Unroll:
    rng = np.random.default_rng(seed)
    arrays = allocate_demonstration(agent.layout, STEPS, lanes)
    fill(arrays, agent, rng)
    arrays["cloned"][:] = rng.random(arrays["cloned"].shape) < 0.9
    arrays["positive"][:] = rng.random(arrays["cloned"].shape) < 0.3
    return Unroll(arrays)


def rollout(agent: Agent, seed: int = 0, lanes: int = 2) -> Unroll:
    rng = np.random.default_rng(100 + seed)
    arrays = allocate_rollout(agent.layout, STEPS, lanes)
    fill(arrays, agent, rng)
    for key in ("movement_log_prob", "language_log_prob"):
        arrays[key][:] = rng.normal(-2, 0.5, size=arrays[key].shape)
    state = RecurrentState(*(rng.normal(size=(lanes, TINY.lstm)).astype(np.float32) for _ in range(2)))
    arrays["reward"] = rng.normal(size=(STEPS, lanes)).astype(np.float32)
    if agent.language is not None:
        arrays["reference_gate"] = rng.normal(size=(STEPS + 1, lanes)).astype(np.float32)
    return Unroll(arrays, state)


def learner_of(agent: Agent, config: LearnerConfig = CONFIG, seed: int = 0) -> Learner:
    return Learner(agent, config, dataset_lanes=LANES, generator=torch.Generator().manual_seed(seed))


def weighing(**weights: float) -> LearnerConfig:
    return LearnerConfig(ObjectiveConfig(LossWeights(**weights)), learning_rate=1e-3)


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


def test_the_learning_rate_warms_up() -> None:
    agent = tiny_agent(LineWorld())
    learner, rates = learner_of(agent, LearnerConfig(learning_rate=8e-4, warm_up=4)), []
    for number in range(6):
        learner.update(demonstrated=demonstrated(agent, number))
        rates.append(learner.state()["optimizer"]["param_groups"][0]["lr"])
    assert rates == pytest.approx([2e-4, 4e-4, 6e-4, 8e-4, 8e-4, 8e-4])


@pytest.mark.parametrize(
    ("decay", "expected"), [("linear", [2.0, 3.0, 2.0, 1.0, 0.0]), ("cosine", [2.0, 3.4142, 2.0, 0.5858, 0.0])]
)
def test_the_learning_rate_decays_to_zero(decay: Literal["linear", "cosine"], expected: list[float]) -> None:
    agent = tiny_agent(LineWorld())
    config = LearnerConfig(learning_rate=4.0, warm_up=2, decay=decay, decay_updates=4)
    assert [config.rate_at(update) for update in range(5)] == pytest.approx(expected, abs=1e-4)
    assert config.rate_at(9) == 0
    learner = learner_of(agent, dataclasses.replace(config, learning_rate=4e-4))
    for number in range(3):
        learner.update(demonstrated=demonstrated(agent, number))
    rate = learner.state()["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(2e-4)
    with pytest.raises(ValueError, match="decay=linear needs decay_updates"):
        LearnerConfig(decay="linear").rate_at(0)


def test_words_are_averaged_over_utterances_or_steps() -> None:
    agent = tiny_agent(LineWorld())
    rows = demonstrated(agent)
    found = {}
    for words in ("utterance", "step"):
        config = LearnerConfig(ObjectiveConfig(words=words))
        found[words] = learner_of(tiny_agent(LineWorld()), config).update(demonstrated=rows)
    counted = rows.arrays["cloned"] & ~rows.arrays["last"]
    share = (rows.arrays["spoke"] & counted).sum() / counted.sum()
    assert 0.1 < share < 0.9
    per_utterance, per_step = (found[words]["language_cloning"] - found[words]["gate_cloning"] for words in found)
    assert per_utterance == pytest.approx(found["utterance"]["token_cloning"], rel=1e-5)
    assert per_step == pytest.approx(share * per_utterance, rel=1e-5)
    assert found["step"]["token_cloning"] == found["utterance"]["token_cloning"]


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


def test_the_factor_of_the_value_loss() -> None:
    agent = tiny_agent(LineWorld())
    half, whole = (
        learner_of(tiny_agent(LineWorld()), LearnerConfig(ObjectiveConfig(value_factor=factor))).update(
            demonstrated=None, rollout=rollout(agent)
        )["value"]
        for factor in (0.5, 1.0)
    )
    assert half > 0 and whole == pytest.approx(2 * half)


def test_the_gradient_is_clipped_if_configured() -> None:
    norms = []
    for clip in (None, 0.01):
        agent = tiny_agent(LineWorld())
        learner = learner_of(agent, LearnerConfig(gradient_clip=clip))
        reported = learner.update(demonstrated=demonstrated(agent))["gradient_norm"]
        gradients = [parameter.grad for parameter in agent.parameters() if parameter.grad is not None]
        norms.append((reported, float(torch.stack([gradient.norm() for gradient in gradients]).norm())))
    (free, same), (reported, clipped) = norms
    assert free == pytest.approx(same, rel=1e-4) == pytest.approx(reported)
    assert clipped == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate is above 0"),
        ({"gradient_clip": 0.0}, "gradient_clip is above 0"),
        ({"warm_up": -1}, "warm_up is at least 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerConfig(**setting)  # type: ignore[arg-type]


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


def test_an_entropy_bonus_flattens_the_policy() -> None:
    """Its loss is minus the entropy of torch's own distributions, over valid steps, and its gradient raises it."""
    agent = tiny_agent(LineWorld())
    earned = rollout(agent)
    with torch.no_grad():
        agent.movement.layers[2].bias[0] += 2.0  # type: ignore[union-attr]
    valid = torch.from_numpy(~earned.arrays["last"][:-1])
    output = forward(agent, earned)
    assert output.movement is not None and output.gate is not None
    movement = torch.distributions.Categorical(logits=output.movement).entropy().sum((-1, -2))[:-1]
    gate = torch.distributions.Bernoulli(logits=output.gate).entropy()[:-1]
    expected = torch.stack([movement[valid].mean(), gate[valid].mean()])

    zeros = dict.fromkeys(vars(LossWeights()), 0.0)
    learner = learner_of(agent, weighing(**{**zeros, "entropy": 0.5}))
    metrics = learner.update(demonstrated=None, rollout=earned)
    assert metrics["movement_entropy"] == pytest.approx(float(expected[0]), rel=1e-5)
    assert metrics["gate_entropy"] == pytest.approx(float(expected[1]), rel=1e-5)
    assert metrics["entropy"] == pytest.approx(-float(expected.sum()), rel=1e-5)
    assert metrics["loss"] == pytest.approx(0.5 * metrics["entropy"], rel=1e-5)
    for _ in range(5):
        later = learner.update(demonstrated=None, rollout=earned)
    assert later["entropy"] < metrics["entropy"] - 0.01


def forward(agent: Agent, unroll: Unroll) -> AgentOutput:
    """The agent's output for a rollout, without gradients."""
    rows = to_tensors(unroll, torch.device("cpu"))
    assert rows.state is not None
    with torch.no_grad():
        return agent({key: rows.host[key] for key in agent.layout.observations(0, 0)}, rows.state)[0]
