"""The agent's network.

    image -> tower ------------.
    heard, said -> embeddings -+-> multi-modal transformer -> aggregate -.
    vector -> token -----------'                                         +-> LSTM -> core -> movement, language,
    previous action -----------------------------------------------------'                  value, utility

The world's spec determines which parts exist; nothing here depends on a particular world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from interplay.agent.encoder import Encoded, Encoder
from interplay.agent.heads import AutoregressiveMovementHead, MovementHead, ScalarHead
from interplay.agent.language import LanguageHead
from interplay.agent.mark_head import MarkHead
from interplay.agent.observation import Layout
from interplay.agent.recurrent import RecurrentCore, RecurrentState, Step, lstm_step
from interplay.agent.sizes import AgentConfig
from interplay.agent.transformer import Block, LatentCrossAttention


class AgentOutput(NamedTuple):
    """Outputs for [T, B] observations. Parts that the world does not have are None."""

    core: Tensor  # [T, B, 2 D], with `policy_remembers=false` [T, B, D]: the input of every head but the utility's
    movement: Tensor | None  # [T, B, ...], of the movement head; `MovementHead.logits` continues from it
    gate: Tensor | None  # [T, B], logit of speaking
    value: Tensor  # [T, B]
    utility: Tensor | None  # [T, B]; only of a reward model with utility
    vision: Tensor | None  # [T, B, E], what CSS reads of the image: see `Agent.match`
    language: Tensor | None  # [T, B, W], text features alone


class StepFeatures(NamedTuple):
    """Features of N single steps, before the recurrent core."""

    aggregate: Tensor  # [N, D]; D is `AgentConfig.lstm`
    vision: Tensor | None  # [N, E], what CSS reads of the image: see `Agent.match`
    language: Tensor | None  # [N, W], text features alone


class MultimodalTransformer(nn.Module):
    """Multi-modal transformer over all tokens; its output is their mean and the aggregation tokens."""

    def __init__(self, config: AgentConfig) -> None:
        super().__init__()
        self.full = config.attention == "full"
        self.queries = nn.Parameter(torch.randn(config.aggregation_tokens, config.width) * 0.3)
        kind = Block if self.full else LatentCrossAttention
        self.blocks = nn.ModuleList(
            kind(config.width, config.attention_heads, config.feedforward) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)
        self.width = (1 + config.aggregation_tokens) * config.width

    def forward(self, encoded: Encoded) -> Tensor:
        """-> [N, width]: the mean over tokens and the aggregation tokens, concatenated."""
        tokens, mask, _, language = encoded
        n, q = tokens.shape[0], self.queries.shape[0]
        queries = self.queries.expand(n, -1, -1)
        if self.full:
            both = torch.cat([queries, tokens], dim=1)
            unmasked = None if mask is None else functional.pad(mask, (q, 0), value=True)
            for block in self.blocks:
                both = block(both, unmasked)
            queries, tokens = both[:, :q], both[:, q:]
        else:
            if language is not None:
                queries = queries + language[:, None, :]  # design choice: condition the attention queries on the text
            for block in self.blocks:
                queries = block(queries, tokens, mask)
        found = torch.cat([_mean(tokens, mask)[:, None], queries], dim=1)
        return cast(Tensor, self.norm(found).flatten(1))


class FlattenTokens(nn.Module):
    """No transformer: all tokens concatenated, as in agents of a convolutional tower and an LSTM (IMPALA)."""

    def __init__(self, config: AgentConfig, tokens: int) -> None:
        super().__init__()
        self.width = tokens * config.width

    def forward(self, encoded: Encoded) -> Tensor:
        """-> [N, width]; padding is zero."""
        tokens, mask, _, _ = encoded
        return (tokens if mask is None else tokens * mask.to(tokens.dtype)[:, :, None]).flatten(1)


class PreviousActionEmbedding(nn.Module):
    """Embeds the previous movement: one embedding for each bin of each component of each action, summed.

    Raises:
        ValueError: `shown` names a component that the world does not have.
    """

    offsets: Tensor
    shown: Tensor

    def __init__(self, layout: Layout, width: int, shown: Sequence[str]) -> None:
        """`shown`: the names of the embedded components; empty for all."""
        super().__init__()
        names = [component.name for component in layout.world.movement]
        unknown = [name for name in shown if name not in names]
        if unknown:
            raise ValueError(
                f"agent.previous_components has {', '.join(map(repr, unknown))}; the components of a movement in "
                f"{layout.world.name} are {', '.join(names)}"
            )
        columns = [k for k, name in enumerate(names) if not shown or name in shown]
        bins = [layout.bins[k] for k in columns] * layout.actions_per_step
        sizes = torch.tensor(bins)
        self.register_buffer("shown", torch.tensor(columns), persistent=False)
        self.register_buffer("offsets", sizes.cumsum(0) - sizes, persistent=False)
        self.table = nn.EmbeddingBag(sum(bins), width, mode="sum")

    def forward(self, previous: Tensor) -> Tensor:
        """int8 [N, A, K] -> [N, W]."""
        return cast(Tensor, self.table(previous[..., self.shown].flatten(1).long() + self.offsets))


class Agent(nn.Module):
    """Policy and value network; with `utility` or `marks`, a reward model.

    Raises:
        ValueError: the world shows its players nothing, or has none of the components that `previous_components` names.
    """

    def __init__(
        self, config: AgentConfig, layout: Layout, vocabulary_size: int, utility: bool = False, marks: bool = False
    ) -> None:
        super().__init__()
        self.config = config
        self.layout = layout
        world = layout.world
        self.encoder = Encoder(config, layout, vocabulary_size)
        self.mixer = (
            FlattenTokens(config, self.encoder.tokens) if config.attention == "none" else MultimodalTransformer(config)
        )
        self.previous = (
            PreviousActionEmbedding(layout, config.width, config.previous_components)
            if world.movement and config.previous_action
            else None
        )
        features_in = self.mixer.width + (config.width if self.previous is not None else 0)
        self.aggregate = nn.Sequential(nn.Linear(features_in, config.lstm), nn.ReLU())
        self.memory = RecurrentCore(config.lstm, config.lstm)
        both = 2 * config.lstm  # design choice: the aggregate also bypasses the LSTM
        core = both if config.policy_remembers else config.lstm
        movement = MovementHead if config.movement == "independent" else AutoregressiveMovementHead
        self.movement = movement(core, config.policy_hidden, layout) if world.movement else None
        self.language = (
            LanguageHead(core, config, vocabulary_size, layout.utterance_length) if world.utterances else None
        )
        self.value = ScalarHead(core, config.value_hidden)
        utility_inputs = both if config.utility_remembers else config.lstm
        self.utility = ScalarHead(utility_inputs, config.value_hidden) if utility else None
        self.marks = MarkHead(core, config.lstm) if marks else None  # has its own memory; see `MarkHead`
        tower = self.encoder.tower
        self.css: ScalarHead | None = None
        if tower is not None and world.utterances:
            pair = 2 * tower.channels + config.width if config.css_input == "tower" else self.mixer.width
            self.css = ScalarHead(pair, config.contrast_hidden)

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        """The state at the start of an episode, for B = `lanes`."""
        return self.memory.initial_state(lanes)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.memory.recurrent.device

    def forward(
        self, observations: dict[str, Tensor], state: RecurrentState[Tensor], with_vision: bool = True
    ) -> tuple[AgentOutput, RecurrentState[Tensor]]:
        """Run over observations [T, B, ...] from the state before them; also returns the state after them."""
        return self.unroll_core(self.encode(fold_time(observations), with_vision), observations["first"], state)

    def encode(self, observations: dict[str, Tensor], with_vision: bool = True) -> StepFeatures:
        """Encode each step independently, from `fold_time` observations [N, ...]. Nearly all arithmetic is here.

        `with_vision`: also return the features that only the CSS loss reads.
        """
        encoded = self.encoder(observations, with_vision and self.css is not None)
        features_in = self.mixer(encoded)
        if self.previous is not None:
            features_in = torch.cat([features_in, self.previous(observations["previous"])], dim=-1)
        return StepFeatures(self.aggregate(features_in), encoded.vision, encoded.language)

    def read_texts(self, texts: Tensor) -> Tensor:
        """Tokens heard and said [N, 2 L] -> their features alone, as `StepFeatures.language`, [N, W]."""
        assert self.encoder.words is not None
        return cast(Tensor, self.encoder.words(texts.long())[2])

    def match(self, vision: Tensor, language: Tensor) -> Tensor:
        """The logits that images and texts match, [N], for the CSS loss.

        Args:
            vision: [N, E], of `StepFeatures`.
            language: [N, W], also of `StepFeatures`; with `css_input=transformer` the tokens heard and said, [N, 2 L].
        """
        assert self.css is not None
        if self.config.css_input == "tower":
            return cast(Tensor, self.css(torch.cat([vision, language], dim=-1)))
        return cast(Tensor, self.css(self.mixer(self.encoder.paired(vision, language))))

    def unroll_core(
        self, features: StepFeatures, first: Tensor, state: RecurrentState[Tensor], step: Step = lstm_step
    ) -> tuple[AgentOutput, RecurrentState[Tensor]]:
        """Run the recurrent core and the heads over the features of T B steps; `first` is [T, B].

        The heads compute in float32 even under autocast: rewards are differences of utilities and ratios are
        exponentials of log-probabilities, so the agent would learn from their rounding errors.
        """
        aggregate = torch.unflatten(features.aggregate, 0, first.shape)  # [T, B, D]
        remembered, state = self.memory(aggregate, first, state, step)
        with torch.autocast(first.device.type, enabled=False):
            aggregate = aggregate.float()
            both = torch.cat([remembered.float(), aggregate], dim=-1)
            core = both if self.config.policy_remembers else aggregate
            utility_inputs = both if self.config.utility_remembers else aggregate
            return AgentOutput(
                core=core,
                movement=None if self.movement is None else self.movement(core),
                gate=None if self.language is None else self.language(core),
                value=self.value(core),
                utility=None if self.utility is None else self.utility(utility_inputs),
                vision=None if features.vision is None else torch.unflatten(features.vision.float(), 0, first.shape),
                language=None
                if features.language is None
                else torch.unflatten(features.language.float(), 0, first.shape),
            ), RecurrentState(state.hidden.float(), state.cell.float())


def fold_time(observations: dict[str, Tensor]) -> dict[str, Tensor]:
    """Fold time and lanes into one axis, as `Agent.encode` expects: [T, B, ...] -> [T B, ...]."""
    return {key: value.flatten(0, 1) for key, value in observations.items() if key != "first"}


def _mean(tokens: Tensor, mask: Tensor | None) -> Tensor:
    """Mean over the tokens that are not padding, [N, S, W] and [N, S] -> [N, W]."""
    if mask is None:
        return tokens.mean(1)
    weight = mask.to(tokens.dtype)
    return torch.bmm(weight[:, None, :], tokens)[:, 0] / weight.sum(1, keepdim=True).clamp(min=1.0)
