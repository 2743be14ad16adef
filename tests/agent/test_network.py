from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from interplay.agent.heads import MovementHead, choose, gate_log_prob, movement_entropy, movement_log_probs
from interplay.agent.network import Agent
from interplay.agent.noise import Noise
from interplay.agent.observation import Layout
from interplay.agent.policy import act
from interplay.agent.sizes import SIZES, AgentConfig
from interplay.agent.transformer import IMPOSSIBLE_LOGIT
from interplay.agent.weights import export_weights, load_weights
from interplay.env.world import Component, WorldSpec
from interplay.episodes.vocabulary import END, SPECIAL

WORDS = 20
BINS = (3, 3, 11, 2)
SMALL = AgentConfig(
    actions_per_step=2, utterance_length=6, channels=(4, 8), blocks=(1, 1), width=16, layers=2, attention_heads=4,
    lstm=24, policy_hidden=16, value_hidden=16, decoder_width=16, decoder_layers=1, contrast_hidden=16,
)  # fmt: skip
SMALL_NANO = AgentConfig(
    actions_per_step=2, utterance_length=6, patch=4, channels=(4, 8), blocks=(0, 1), text_film=True, width=16,
    layers=2, attention="aggregate", attention_heads=4, lstm=24, policy_hidden=16, value_hidden=16, decoder_width=16,
    decoder_layers=1, contrast_hidden=16,
)  # fmt: skip

SMALL_FLAT = replace(SMALL, attention="none")
PAPER: dict[str, Any] = {"movement": "autoregressive", "css_input": "transformer"}
SMALL_PAPER = replace(SMALL, **PAPER)


def spec(
    image: tuple[int, int, int] | None = (24, 32, 3),
    vector: int = 0,
    bins: tuple[int, ...] = BINS,
    utterances: bool = True,
    frames: int = 8,
) -> WorldSpec:
    movement = tuple(Component(f"c{i}", n, n // 2) for i, n in enumerate(bins))
    return WorldSpec("fake", 1, ("setter", "solver"), frames, 30.0, image, vector, movement, utterances, 0)


WORLDS = {
    "house": spec(),
    "text only": spec(image=None, bins=(), frames=2),
    "mute": spec(utterances=False),
    "still": spec(bins=()),
    "vector": spec(image=None, vector=5, utterances=False),
    "grid": spec(image=(7, 7, 3), vector=2),
}


def layout_of(world: WorldSpec, config: AgentConfig = SMALL) -> Layout:
    return Layout(world, config.utterance_length, config.actions_per_step)


def agent_of(world: WorldSpec, config: AgentConfig = SMALL, utility: bool = False) -> Agent:
    """An agent none of whose weights is zero, so that nothing is equal by accident."""
    torch.manual_seed(0)
    agent = Agent(config, layout_of(world, config), WORDS, utility)
    with torch.no_grad():
        for parameter in agent.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return agent


def observations_of(layout: Layout, length: int, lanes: int, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    arrays = {key: torch.from_numpy(value) for key, value in layout.observations(length, lanes).items()}
    arrays["first"][:] = torch.rand(length, lanes, generator=generator) < 0.3
    for key, high in (("image", 256), ("heard", WORDS), ("said", WORDS)):
        if key in arrays:
            arrays[key].copy_(torch.randint(0, high, arrays[key].shape, generator=generator))
    if "said" in arrays:
        arrays["said"][: length // 2] = 0
        arrays["heard"][:1] = 0
    if "vector" in arrays:
        arrays["vector"].normal_(generator=generator)
    if "previous" in arrays:
        for k, bins in enumerate(layout.bins):
            chosen = arrays["previous"][..., k]
            chosen.copy_(torch.randint(0, bins, chosen.shape, generator=generator))
    return arrays


@pytest.mark.parametrize(
    ("name", "readings"), [*((name, {}) for name in SIZES if name != "nano"), ("71m", PAPER)], ids=str
)
def test_sizes_are_what_their_names_say(name: str, readings: dict[str, Any]) -> None:
    """Without memory for weights, as a command builds its agent to compute what it needs."""
    house = spec(image=(72, 96, 3), bins=(3, 3, 11, 11, 2, 3, 3, 2))
    size = replace(SIZES[name], **readings)
    with torch.device("meta"):
        agent = Agent(size, layout_of(house, size), 500)
    count = sum(parameter.numel() for parameter in agent.parameters())
    assert abs(count / (float(name[:-1]) * 1e6) - 1) < 0.1


@pytest.mark.parametrize("image", [(48, 64, 3), (72, 96, 3)])
def test_nano_is_small(image: tuple[int, int, int]) -> None:
    house = spec(image=image, bins=(3, 3, 11, 11, 2, 3, 3, 2))
    agent = Agent(SIZES["nano"], layout_of(house, SIZES["nano"]), 500, utility=True)
    assert sum(parameter.numel() for parameter in agent.parameters()) <= 550_000


@pytest.mark.parametrize(
    "config", [SMALL, SMALL_NANO, SMALL_FLAT, SMALL_PAPER], ids=["full", "aggregate", "none", "paper"]
)
@pytest.mark.parametrize("world", WORLDS)
def test_an_unroll_equals_its_steps(world: str, config: AgentConfig) -> None:
    agent = agent_of(WORLDS[world], config, utility=True)
    observations = observations_of(agent.layout, 7, 3)
    start = agent.initial_state(3).to_arrays().to_tensors()
    whole, end = agent(observations, start)
    state = start
    for t in range(7):
        output, state = agent({key: value[t : t + 1] for key, value in observations.items()}, state)
        for name, part in whole._asdict().items():
            if part is not None:
                torch.testing.assert_close(getattr(output, name)[0], part[t], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(state, end, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("world", WORLDS)
def test_parts_exist_where_the_world_has_them(world: str) -> None:
    has = WORLDS[world]
    agent = agent_of(has)
    output, _ = agent(observations_of(agent.layout, 2, 3), agent.initial_state(3))
    assert (output.movement is not None) == bool(has.movement)
    assert (output.gate is not None) == has.utterances
    assert (output.vision is not None) == (has.image is not None and has.utterances)  # which only CSS reads
    assert (agent.css is not None) == (has.utterances and has.image is not None)
    assert output.utility is None
    decision = act(agent, observations_of(agent.layout, 1, 3), agent.initial_state(3), Noise.of(torch.Generator(), 3))
    assert decision.movement.shape == (3, 2, len(has.movement))
    assert decision.tokens.shape == (3, 6)


def test_a_world_that_shows_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="shows its players nothing"):
        agent_of(spec(image=None, utterances=False))


def test_an_episodes_start_forgets_the_past() -> None:
    agent = agent_of(spec())
    observations = observations_of(agent.layout, 6, 2)
    observations["first"][:] = False
    observations["first"][3, 0] = True
    other = {key: value.clone() for key, value in observations.items()}
    other["image"][:3] = 255 - other["image"][:3]
    a, _ = agent(observations, agent.initial_state(2))
    b, _ = agent(other, agent.initial_state(2))
    assert torch.equal(a.value[3:, 0], b.value[3:, 0])
    assert not torch.isclose(a.value[3:, 1], b.value[3:, 1]).any()


@pytest.mark.parametrize("config", [SMALL, SMALL_NANO, SMALL_FLAT], ids=["full", "aggregate", "none"])
@pytest.mark.parametrize("key", ["image", "heard", "said", "previous", "vector"])
def test_every_part_of_an_observation_counts(config: AgentConfig, key: str) -> None:
    agent = agent_of(spec(vector=3), config)
    observations = observations_of(agent.layout, 1, 4)
    observations["said"][:] = 5
    before, _ = agent(observations, agent.initial_state(4))
    observations[key] = observations[key].roll(1, dims=-1) + (1 if key == "vector" else 0)
    if key == "previous":
        observations[key] = 1 - observations[key].clamp(0, 1)
    if key in ("heard", "said"):
        observations[key][..., 0] = 7
    after, _ = agent(observations, agent.initial_state(4))
    assert not torch.isclose(before.value, after.value, rtol=1e-6).any()


def test_an_agent_may_be_kept_from_its_previous_action() -> None:
    assert not SIZES["nano"].previous_action
    agent = agent_of(spec(), replace(SMALL_NANO, previous_action=False))
    observations = observations_of(agent.layout, 3, 4)
    before, _ = agent(observations, agent.initial_state(4))
    after, _ = agent({**observations, "previous": 1 - observations["previous"].clamp(0, 1)}, agent.initial_state(4))
    assert before.movement is not None and after.movement is not None
    assert torch.equal(before.value, after.value)
    assert all(map(torch.equal, before.movement, after.movement))


def test_an_agent_may_observe_some_components_of_its_previous_action() -> None:
    agent = agent_of(spec(), replace(SMALL_NANO, previous_action=True, previous_components=("c1", "c3")))
    observations = observations_of(agent.layout, 3, 4)
    before, _ = agent(observations, agent.initial_state(4))
    for component, seen in enumerate((False, True, False, True)):
        previous = observations["previous"].clone()
        previous[..., component] = 1 - previous[..., component].clamp(0, 1)
        after, _ = agent({**observations, "previous": previous}, agent.initial_state(4))
        assert torch.isclose(before.value, after.value, rtol=1e-6).any().item() is not seen


def test_components_that_the_world_does_not_have_are_refused_with_those_that_it_has() -> None:
    config = replace(SMALL_NANO, previous_action=True, previous_components=("c1", "graps"))
    with pytest.raises(ValueError, match=r"previous_components has 'graps'; .* in fake are c0, c1, c2, c3"):
        agent_of(spec(), config)


def test_components_without_a_previous_action_are_refused() -> None:
    with pytest.raises(ValueError, match=r"set agent\.previous_action=true, or agent\.previous_components"):
        replace(SMALL_NANO, previous_action=False, previous_components=("c1",))


def test_vision_has_not_seen_the_text() -> None:
    agent = agent_of(spec(), SMALL_NANO)
    observations = observations_of(agent.layout, 2, 3)
    before, _ = agent(observations, agent.initial_state(3))
    observations["heard"] = observations["heard"].clamp(max=WORDS - 2) + 1
    after, _ = agent(observations, agent.initial_state(3))
    assert before.vision is not None and after.vision is not None
    assert torch.equal(before.vision, after.vision)
    assert before.language is not None and after.language is not None
    assert not torch.equal(before.language, after.language)


def gradients_of_css(config: AgentConfig) -> set[str]:
    """The parameters that the logits of matching pairs depend on."""
    agent = agent_of(spec(), config)
    observations = observations_of(agent.layout, 1, 4)
    output, _ = agent(observations, agent.initial_state(4))
    assert output.vision is not None and output.language is not None
    language = output.language[0]
    if config.css_input == "transformer":
        language = torch.cat([observations["heard"], observations["said"]], -1)[0]
    agent.match(output.vision[0], language).sum().backward()
    return {name for name, parameter in agent.named_parameters() if parameter.grad is not None}


def test_css_after_the_transformer_trains_it_and_the_whole_tower() -> None:
    tower, transformer = gradients_of_css(SMALL), gradients_of_css(SMALL_PAPER)
    last_stage = {"encoder.tower.stages.1.0.first.weight", "encoder.cell.weight"}
    assert not [name for name in tower if name.startswith("mixer.")] and not last_stage & tower
    assert {"mixer.queries", "mixer.blocks.1.attention.query.weight", "encoder.words.word.weight"} <= transformer
    assert last_stage < transformer


def test_a_pair_after_the_transformer_is_the_image_under_that_text() -> None:
    """The pair of an image and its own text gives the transformer what the forward pass gives it."""
    agent = agent_of(spec(), SMALL_PAPER)
    observations = observations_of(agent.layout, 2, 4)
    output, _ = agent(observations, agent.initial_state(4))
    assert output.vision is not None and agent.css is not None
    texts = torch.cat([observations["heard"], observations["said"]], -1)[1]
    encoded = agent.encoder({key: value[1] for key, value in observations.items()})
    torch.testing.assert_close(agent.match(output.vision[1], texts), agent.css(agent.mixer(encoded)))
    own, other = (agent.match(output.vision[1], given) for given in (texts, texts.roll(1, 0)))
    assert not torch.isclose(own, other).any()


@pytest.mark.parametrize("changes", [{"text_film": True}, {"attention": "none"}, {"css_input": "tokens"}], ids=str)
def test_an_agent_that_cannot_contrast_after_the_transformer_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"agent\.css_input"):
        replace(SMALL_PAPER, **changes)


@pytest.mark.parametrize("config", [SMALL, SMALL_NANO, SMALL_FLAT], ids=["full", "aggregate", "none"])
def test_padding_is_not_read(config: AgentConfig) -> None:
    """Lanes with and without text share a batch: what one says must not depend on the other's padding."""
    agent = agent_of(spec(), config)
    observations = observations_of(agent.layout, 1, 2)
    observations["heard"][0, 0] = torch.tensor([5, 6, 3, 0, 0, 0], dtype=torch.int16)
    before, _ = agent(observations, agent.initial_state(2))
    with torch.no_grad():
        agent.encoder.words.word.weight[0] += torch.randn(config.width)  # the embedding of padding
    after, _ = agent(observations, agent.initial_state(2))
    torch.testing.assert_close(before.value[0, 0], after.value[0, 0])


def test_movement_log_probs_against_each_components_own_softmax() -> None:
    agent = agent_of(spec())
    observations = observations_of(agent.layout, 2, 3)
    output, _ = agent(observations, agent.initial_state(3))
    assert output.movement is not None and agent.movement is not None
    movement = observations["previous"]
    found = movement_log_probs(output.movement, movement)
    assert isinstance(agent.movement, MovementHead)
    flat = agent.movement.layers(output.core).unflatten(-1, (2, sum(BINS)))
    for k, logits in enumerate(flat.split(list(BINS), dim=-1)):
        categorical = torch.distributions.Categorical(logits=logits)
        torch.testing.assert_close(found[..., k], categorical.log_prob(movement[..., k].long()))
        torch.testing.assert_close(movement_entropy(output.movement)[..., k], categorical.entropy())


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize(
    "config", [SMALL, SMALL_NANO, SMALL_FLAT, SMALL_PAPER], ids=["full", "aggregate", "none", "paper"]
)
def test_what_acting_reports_is_what_learning_recomputes(config: AgentConfig, greedy: bool) -> None:
    agent = agent_of(spec(), config)
    assert agent.language is not None and agent.movement is not None
    observations = observations_of(agent.layout, 5, 8)
    output, _ = agent(observations, agent.initial_state(8))
    with torch.no_grad():  # so that about half of the steps speak
        agent.language.gate.bias.sub_(output.gate.median())
    output, _ = agent(observations, agent.initial_state(8))
    assert output.movement is not None and output.gate is not None
    state, generator = agent.initial_state(8), torch.Generator().manual_seed(1)
    speeches = 0
    for t in range(5):
        step = {key: value[t : t + 1] for key, value in observations.items()}
        decision = act(agent, step, state, Noise.of(generator, 8), greedy)
        state = decision.state
        movement = torch.from_numpy(decision.movement)
        expected = movement_log_probs(agent.movement.logits(output.movement[t], movement), movement).sum(-1)
        torch.testing.assert_close(torch.from_numpy(decision.movement_log_prob), expected)
        assert (decision.movement < BINS).all() and (decision.movement >= 0).all()
        speak, tokens = torch.from_numpy(decision.speak), torch.from_numpy(decision.tokens)
        spoken = agent.language.utterance_log_probs(output.core[t : t + 1], speak[None], tokens[None])[0]
        torch.testing.assert_close(
            torch.from_numpy(decision.language_log_prob), gate_log_prob(output.gate[t], speak) + spoken
        )
        torch.testing.assert_close(torch.from_numpy(decision.value), output.value[t])
        assert not tokens[~speak].any()
        speeches += int(speak.sum())
    assert 0 < speeches < 40


def test_an_agent_without_words_speaks_at_the_probability_that_learning_computes() -> None:
    """No recording has a word: what it says is empty, and certain."""
    agent = Agent(SMALL, layout_of(spec(), SMALL), len(SPECIAL))
    assert agent.language is not None
    core = torch.randn(6, agent.language.condition.in_features)
    tokens, log_prob = agent.language.write(core, Noise.of(torch.Generator().manual_seed(0), 6), greedy=False)
    expected = agent.language.utterance_log_probs(core[None], torch.ones(1, 6, dtype=torch.bool), tokens[None])[0]
    torch.testing.assert_close(log_prob, expected)
    assert (tokens[:, 0] == END).all() and not tokens[:, 1:].any()


def test_choices_are_drawn_by_their_probabilities() -> None:
    logits = torch.tensor([0.0, 1.0, -1.0, IMPOSSIBLE_LOGIT])
    drawn = choose(logits.expand(8000, 4), Noise.of(torch.Generator().manual_seed(0), 8000), greedy=False)
    seen = torch.bincount(drawn, minlength=4) / 8000
    torch.testing.assert_close(seen, logits.softmax(-1), rtol=0.0, atol=0.02)
    assert (choose(logits.expand(5, 4), Noise.of(torch.Generator(), 5), greedy=True) == 1).all()


def test_the_gates_log_prob_is_a_bernoullis() -> None:
    gate, speak = torch.tensor([-3.0, -3.0, 2.0, 2.0]), torch.tensor([True, False, True, False])
    expected = torch.distributions.Bernoulli(logits=gate).log_prob(speak.float())
    torch.testing.assert_close(gate_log_prob(gate, speak), expected)


def test_what_only_the_contrast_reads_is_left_out_without_a_difference_to_the_rest() -> None:
    agent = agent_of(spec())
    observations = observations_of(agent.layout, 2, 3)
    whole, after = agent(observations, agent.initial_state(3))
    acting, after_acting = agent(observations, agent.initial_state(3), with_vision=False)
    assert whole.vision is not None and acting.vision is None
    for name in ("core", "movement", "gate", "value", "language"):
        assert torch.equal(getattr(whole, name), getattr(acting, name)), name
    assert torch.equal(after.cell, after_acting.cell)


def test_a_reward_model_starts_from_an_agents_weights() -> None:
    agent, model = agent_of(spec()), agent_of(spec(), utility=True)
    with torch.no_grad():
        for parameter in agent.parameters():
            parameter.mul_(0.5)
    load_weights(model, export_weights(agent))
    observations = observations_of(agent.layout, 2, 3)
    ours, _ = agent(observations, agent.initial_state(3))
    theirs, _ = model(observations, model.initial_state(3))
    assert torch.equal(ours.value, theirs.value)
    assert theirs.utility is not None and theirs.utility.shape == (2, 3)


@pytest.mark.parametrize("remembers", [True, False])
def test_a_utility_remembers_only_where_it_may(remembers: bool) -> None:
    model = agent_of(spec(), replace(SMALL, utility_remembers=remembers), utility=True)
    observations = observations_of(model.layout, 3, 2)
    observations["first"][1:] = False
    other = {key: torch.cat([value[1:2], value[1:]]) for key, value in observations.items()}  # another first step
    first, then = (model(given, model.initial_state(2))[0] for given in (observations, other))
    assert first.utility is not None and then.utility is not None
    assert torch.equal(first.utility[2], then.utility[2]) != remembers
    assert not torch.equal(first.value[2], then.value[2])


def test_weights_of_another_agent_are_refused() -> None:
    agent = agent_of(spec())
    weights = export_weights(agent)
    with pytest.raises(ValueError, match=r"missing: \['value\.layers\.0\.bias'\]"):
        load_weights(agent, {key: value for key, value in weights.items() if key != "value.layers.0.bias"})
    with pytest.raises(ValueError, match=r"unknown: \['utility\.layers\.0\.bias'"):
        load_weights(agent, export_weights(agent_of(spec(), utility=True)))
    with pytest.raises(ValueError, match=r"shapes: \['encoder\.words\.word\.weight \(3, 3\)"):
        load_weights(agent, {**weights, "encoder.words.word.weight": weights["encoder.words.word.weight"][:3, :3]})


def test_a_wrong_size_lists_every_problem() -> None:
    with pytest.raises(ValueError, match=r"agent\.channels.*agent\.attention_heads=3 does not divide agent\.width=16"):
        AgentConfig(channels=(4,), blocks=(1, 1), width=16, attention_heads=3)
