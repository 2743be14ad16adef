"""The agent's network.

    image -> tower ------------.
    heard, said -> embeddings -+-> multi-modal transformer -> aggregate -.
    vector -> token -----------'                                         +-> LSTM -> core -> movement, language,
    previous action -----------------------------------------------------'                  value, utility

Which parts exist follows from the world's spec; nothing here asks which world it is.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from interplay.agent.encoder import Encoded, Encoder
from interplay.agent.heads import MovementHead, ScalarHead
from interplay.agent.language import LanguageHead
from interplay.agent.observation import Layout
from interplay.agent.recurrent import RecurrentCore, RecurrentState, Step, lstm_step
from interplay.agent.sizes import AgentConfig
from interplay.agent.transformer import Block, LatentCrossAttention


class AgentOutput(NamedTuple):
    """What an agent makes of [T, B] observations. Parts that its world does not have are None."""

    core: Tensor  # [T, B, D], the input of every head (but of a utility that does not remember)
    movement: Tensor | None  # logits [T, B, A, K, M]: see `MovementHead`
    gate: Tensor | None  # [T, B], the logit of speaking
    value: Tensor  # [T, B]
    utility: Tensor | None  # [T, B]; only of a reward model
    vision: Tensor | None  # [T, B, 2 C], the picture before any text touched it; only for CSS
    language: Tensor | None  # [T, B, W], the text alone


class StepFeatures(NamedTuple):
    """What single steps hold, N of them, before anything is remembered."""

    aggregate: Tensor  # [N, D / 2]
    vision: Tensor | None  # [N, 2 C], the picture before any text touched it; only for CSS
    language: Tensor | None  # [N, W], the text alone


class MultimodalTransformer(nn.Module):
    """The multi-modal transformer, and the aggregate of what it found."""

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
        """-> [N, width]: the mean over tokens, then the aggregation tokens, side by side."""
        tokens, mask, _, language = encoded
        n, q = tokens.shape[0], self.queries.shape[0]
        queries = self.queries.expand(n, -1, -1)
        if self.full:
            both = torch.cat([queries, tokens], dim=1)
            seen = None if mask is None else functional.pad(mask, (q, 0), value=True)
            for block in self.blocks:
                both = block(both, seen)
            queries, tokens = both[:, :q], both[:, q:]
        else:
            if language is not None:
                queries = queries + language[:, None, :]  # choice: what is asked steers where they look
            for block in self.blocks:
                queries = block(queries, tokens, mask)
        found = torch.cat([_mean(tokens, mask)[:, None], queries], dim=1)
        return cast(Tensor, self.norm(found).flatten(1))


class FlattenTokens(nn.Module):
    """No transformer: the tokens side by side, as in agents that are a convolutional tower and an LSTM (IMPALA)."""

    def __init__(self, config: AgentConfig, tokens: int) -> None:
        super().__init__()
        self.width = tokens * config.width

    def forward(self, encoded: Encoded) -> Tensor:
        """-> [N, width]; tokens that mean nothing are zero."""
        tokens, mask, _, _ = encoded
        return (tokens if mask is None else tokens * mask.to(tokens.dtype)[:, :, None]).flatten(1)


class PreviousActionEmbedding(nn.Module):
    """Embeds the previous movement: one embedding for each bin of each component of each action, summed."""

    offsets: Tensor

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        sizes = torch.tensor(layout.bins).repeat(layout.actions_per_step)
        self.register_buffer("offsets", sizes.cumsum(0) - sizes, persistent=False)
        self.table = nn.EmbeddingBag(layout.actions_per_step * sum(layout.bins), width, mode="sum")

    def forward(self, previous: Tensor) -> Tensor:
        """int8 [N, A, K] -> [N, W]."""
        return cast(Tensor, self.table(previous.flatten(1).long() + self.offsets))


class CSSDiscriminator(nn.Module):
    """Tells matching pairs of vision and language from mismatching ones (the CSS loss)."""

    def __init__(self, vision: int, language: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(vision + language, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, vision: Tensor, language: Tensor) -> Tensor:
        """[..., C] and [..., W] -> the logit that they belong together, [...]."""
        return cast(Tensor, self.layers(torch.cat([vision, language], dim=-1))[..., 0])


class Agent(nn.Module):
    """The policy and its value; with `utility`, a reward model."""

    def __init__(self, config: AgentConfig, layout: Layout, vocabulary_size: int, utility: bool = False) -> None:
        super().__init__()
        self.config = config
        self.layout = layout
        world = layout.world
        self.encoder = Encoder(config, layout, vocabulary_size)
        self.mixer = (
            FlattenTokens(config, self.encoder.tokens) if config.attention == "none" else MultimodalTransformer(config)
        )
        self.previous = (
            PreviousActionEmbedding(layout, config.width) if world.movement and config.previous_action else None
        )
        known = self.mixer.width + (config.width if self.previous is not None else 0)
        self.aggregate = nn.Sequential(nn.Linear(known, config.lstm), nn.ReLU())
        self.memory = RecurrentCore(config.lstm, config.lstm)
        core = 2 * config.lstm  # choice: the aggregate also passes around the LSTM
        self.movement = MovementHead(core, config.policy_hidden, layout) if world.movement else None
        self.language = (
            LanguageHead(core, config, vocabulary_size, layout.utterance_length) if world.utterances else None
        )
        self.value = ScalarHead(core, config.value_hidden)
        sensed = core if config.utility_remembers else config.lstm
        self.utility = ScalarHead(sensed, config.value_hidden) if utility else None
        tower = self.encoder.tower
        self.css = (
            CSSDiscriminator(2 * tower.channels, config.width, config.contrast_hidden)
            if tower is not None and world.utterances
            else None
        )

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        """The state at the start of an episode, [B, D]."""
        return self.memory.initial_state(lanes)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.memory.recurrent.device

    def forward(
        self, observations: dict[str, Tensor], state: RecurrentState[Tensor], contrasted: bool = True
    ) -> tuple[AgentOutput, RecurrentState[Tensor]]:
        """Observations [T, B, ...] as `observation.py` lists them, the state before them; see `encode`."""
        return self.unroll_core(self.encode(fold_time(observations), contrasted), observations["first"], state)

    def encode(self, observations: dict[str, Tensor], contrasted: bool = True) -> StepFeatures:
        """Each step by itself: `fold_time` observations [N, ...]. Nearly all of the arithmetic is here.

        What only the CSS loss reads is left out where it is not `contrasted`, as while acting, or never is.
        """
        encoded = self.encoder(observations, contrasted and self.css is not None)
        known = self.mixer(encoded)
        if self.previous is not None:
            known = torch.cat([known, self.previous(observations["previous"])], dim=-1)
        return StepFeatures(self.aggregate(known), encoded.vision, encoded.language)

    def unroll_core(
        self, looked: StepFeatures, first: Tensor, state: RecurrentState[Tensor], step: Step = lstm_step
    ) -> tuple[AgentOutput, RecurrentState[Tensor]]:
        """Over time: what T B steps held, `first` [T, B], and the state before them.

        The heads compute in float32 also where autocast is on: rewards are differences of utilities, and ratios
        exponentials of log-probabilities, so a rounding of either would be learned from.
        """
        aggregate = torch.unflatten(looked.aggregate, 0, first.shape)  # [T, B, D / 2]
        remembered, state = self.memory(aggregate, first, state, step)
        with torch.autocast(first.device.type, enabled=False):
            aggregate = aggregate.float()
            core = torch.cat([remembered.float(), aggregate], dim=-1)
            sensed = core if self.config.utility_remembers else aggregate
            return AgentOutput(
                core=core,
                movement=None if self.movement is None else self.movement(core),
                gate=None if self.language is None else self.language(core),
                value=self.value(core),
                utility=None if self.utility is None else self.utility(sensed),
                vision=None if looked.vision is None else torch.unflatten(looked.vision.float(), 0, first.shape),
                language=None if looked.language is None else torch.unflatten(looked.language.float(), 0, first.shape),
            ), RecurrentState(state.hidden.float(), state.cell.float())


def fold_time(observations: dict[str, Tensor]) -> dict[str, Tensor]:
    """What `Agent.encode` takes: time and lanes as one axis, [T, B, ...] -> [T B, ...]."""
    return {key: value.flatten(0, 1) for key, value in observations.items() if key != "first"}


def _mean(tokens: Tensor, mask: Tensor | None) -> Tensor:
    """The mean over the tokens that mean something, [N, S, W] and [N, S] -> [N, W]."""
    if mask is None:
        return tokens.mean(1)
    weight = mask.to(tokens.dtype)
    return torch.bmm(weight[:, None, :], tokens)[:, 0] / weight.sum(1, keepdim=True).clamp(min=1.0)
