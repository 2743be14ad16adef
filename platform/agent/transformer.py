"""Attention blocks of the multi-modal transformer and the language decoder, with pre-normalization."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

IMPOSSIBLE_LOGIT = -1e9  # of options that cannot be chosen; finite, so that 0 * log 0 is 0
# Design choice: how sharply initial queries discriminate between tokens; near 0 a small net attends late in training.
QUERY_INIT_SCALE = 1.7


class Attention(nn.Module):
    """Multi-head attention of queries [N, Q, W] over tokens [N, S, W]."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def forward(self, queries: Tensor, tokens: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """`mask`: bool [N, S], True where a token may be attended to. Returns [N, Q, W]."""
        n, q, width = queries.shape
        head_width = width // self.heads  # explicit, because N may be 0
        query = self.query(queries).view(n, q, self.heads, head_width).transpose(1, 2)  # [N, heads, Q, W / heads]
        key, value = self.key_value(tokens).view(n, tokens.shape[1], 2, self.heads, head_width).permute(2, 0, 3, 1, 4)
        attn_mask = None if mask is None else mask[:, None, None, :]
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask, is_causal=causal)
        return cast(Tensor, self.out(mixed.transpose(1, 2).reshape(n, q, width)))


class Block(nn.Module):
    """Attention, then a feed-forward layer, each with a residual connection."""

    def __init__(self, width: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.feedforward = feed_forward(width, feedforward)

    def forward(self, tokens: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """Every token of [N, S, W] attends to every token that `mask` [N, S] allows."""
        normed = self.attention_norm(tokens)
        tokens = tokens + self.attention(normed, normed, mask, causal)
        return cast(Tensor, tokens + self.feedforward(tokens))


class LatentCrossAttention(nn.Module):
    """Attention of a few queries over many tokens, then a feed-forward layer.

    Keys are not computed: a head's key matrix is applied to its query instead, q (K x) = (K' q) x, and its value matrix
    after the average over tokens. With Q queries and H heads this costs Q H / 2 W of the usual order.
    """

    def __init__(self, width: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        nn.init.normal_(self.query.weight, std=QUERY_INIT_SCALE * width**-0.5)
        self.key = nn.Parameter(torch.randn(heads, width // heads, width) * width**-0.5)
        self.value = nn.Parameter(torch.randn(heads, width, width // heads) * width**-0.5)
        self.out = nn.Linear(width, width)
        self.feedforward = feed_forward(width, feedforward)

    def forward(self, queries: Tensor, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Queries [N, Q, W] attend to the tokens [N, S, W] that `mask` [N, S] allows. Returns [N, Q, W].

        A null token with logit 0 keeps the softmax defined when every token is masked.
        """
        n, q, width = queries.shape
        tokens = functional.layer_norm(tokens, (width,))
        head_queries = self.query(self.norm(queries)).view(n, q, self.heads, -1)
        head_queries = torch.einsum("nqhd,hdw->nqhw", head_queries, self.key).flatten(1, 2)  # [N, Q heads, W]
        scores = torch.bmm(head_queries, tokens.transpose(1, 2)) * (width // self.heads) ** -0.5  # [N, Q heads, S]
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, :], IMPOSSIBLE_LOGIT)
        weights = functional.pad(scores, (1, 0)).softmax(-1)[:, :, 1:]
        attended = torch.bmm(weights, tokens).view(n, q, self.heads, width)
        mixed = torch.einsum("nqhw,hwd->nqhd", attended, self.value).flatten(2)  # [N, Q, W]
        queries = queries + self.out(mixed)
        return cast(Tensor, queries + self.feedforward(queries))


def feed_forward(width: int, multiple: int) -> nn.Sequential:
    """Layer norm and two linear layers with a hidden layer of `multiple` times the width."""
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, multiple * width), nn.GELU(), nn.Linear(multiple * width, width)
    )
