"""Observation encoder: image cells, words heard and said, and vector observations, as tokens of one width."""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from interplay.agent.image_tower import ImageTower, make_tower
from interplay.agent.observation import Layout
from interplay.agent.sizes import AgentConfig
from interplay.episodes.vocabulary import PAD


class Encoded(NamedTuple):
    """N observations as tokens."""

    tokens: Tensor  # [N, S, W]
    mask: Tensor | None  # bool [N, S], False at padding; None: no padding
    # None if not requested: [N, 2 C], image features before text conditioning; with `css_input=transformer` [N, S' W],
    # the tokens of the image.
    vision: Tensor | None
    language: Tensor | None  # [N, W], text features alone


class TextEmbedding(nn.Module):
    """Embeds the words heard and said: the sum of a word embedding and an embedding of position and speaker."""

    def __init__(self, vocabulary_size: int, length: int, width: int) -> None:
        super().__init__()
        self.word = nn.Embedding(vocabulary_size, width)
        self.place = nn.Parameter(torch.zeros(2 * length, width))  # one for each position of each speaker
        self.summary = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        nn.init.normal_(self.place, std=0.3)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[N, 2 L] tokens, heard then said -> embeddings [N, 2 L, W], their mask [N, 2 L], their summary [N, W].

        A ReLU layer on each word with its position precedes the mean, so that the summary depends on the word order.
        """
        mask = tokens != PAD
        embedded = self.word(tokens) + self.place
        weight = mask.to(embedded.dtype)[:, :, None]
        total = (self.summary(embedded) * weight).sum(1)
        return embedded, mask, total / weight.sum(1).clamp(min=1.0)


class Encoder(nn.Module):
    """Encodes all observations except the previous action."""

    def __init__(self, config: AgentConfig, layout: Layout, vocabulary_size: int) -> None:
        super().__init__()
        world = layout.world
        if world.image is None and not world.vector and not world.utterances:
            raise ValueError(f"{world.name} shows its players nothing: an agent needs an image, a vector or utterances")
        self.words: TextEmbedding | None = None
        self.tower: ImageTower | None = None
        self.senses: nn.Linear | None = None
        if world.utterances:
            self.words = TextEmbedding(vocabulary_size, layout.utterance_length, config.width)
        if world.image is not None:
            self.tower = make_tower(
                config, world.image, config.width if config.text_film and world.utterances else None
            )
            self.cell = nn.Linear(self.tower.channels, config.width)
            self.place = nn.Parameter(torch.randn(self.tower.cells, config.width) * 0.3)
        if world.vector:
            self.senses = nn.Linear(world.vector, config.width)
        self.width, self.pairs_tokens = config.width, config.css_input == "transformer"
        words = 2 * layout.utterance_length if world.utterances else 0
        cells = 0 if self.tower is None else self.tower.cells
        self.tokens = words + cells + bool(world.vector)  # S

    def forward(self, observations: dict[str, Tensor], vision: bool = True) -> Encoded:
        """Arrays of `observation.py` with time and lanes folded into one axis, [N, ...]; `vision`: also return it."""
        parts: list[Tensor] = []
        masks: list[Tensor] = []
        vision_features = language = None
        if self.words is not None:
            texts = torch.cat([observations["heard"], observations["said"]], dim=1).long()
            embedded, mask, language = self.words(texts)
            parts.append(embedded)
            masks.append(mask)
        if self.tower is not None:
            grid, vision_features = self.tower(observations["image"], language, vision and not self.pairs_tokens)
            parts.append(self.cell(grid.flatten(2).transpose(1, 2)) + self.place)  # [N, C, h, w] -> [N, h w, W]
            if vision and self.pairs_tokens:
                vision_features = parts[-1].flatten(1)
        if self.senses is not None:
            parts.append(cast(Tensor, self.senses(observations["vector"]))[:, None, :])
        tokens = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        if not masks:
            return Encoded(tokens, None, vision_features, language)
        unmasked = masks[0].new_ones(tokens.shape[0], tokens.shape[1] - masks[0].shape[1])
        return Encoded(tokens, torch.cat([masks[0], unmasked], dim=1), vision_features, language)

    def paired(self, vision: Tensor, texts: Tensor) -> Encoded:
        """The tokens of images [N, S' W] (`Encoded.vision`) together with those of any texts [N, 2 L]."""
        assert self.words is not None
        embedded, mask, language = self.words(texts.long())
        cells = torch.unflatten(vision, -1, (-1, self.width))
        tokens = torch.cat([embedded, cells.to(embedded.dtype)], dim=1)
        unmasked = mask.new_ones(cells.shape[:2])
        return Encoded(tokens, torch.cat([mask, unmasked], dim=1), None, language)
