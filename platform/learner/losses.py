"""Losses other than the policy gradient: behavioral cloning, contrastive self-supervision, value, KL.

Every loss is a mean over the unmasked steps (or utterances, or pairs), so its scale depends neither on the batch size
nor on the number of masked steps.

Shapes do not depend on the data, except for the rows that CSS and the language select. These rows are selected
beforehand, on the host, and may be padded to a fixed number (`interplay.agent.selected_rows`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor
from torch.nn import functional

from interplay.agent.selected_rows import SelectedRows, select_rows
from interplay.episodes.vocabulary import PAD
from interplay.learner.averages import masked_mean
from interplay.learner.check_shapes import check_shapes

Reduce = Literal["sum", "mean"]


class GateCloning(NamedTuple):
    """The loss of the speak-or-stay-silent gate."""

    loss: Tensor
    accuracy: Tensor  # the share of steps at which the more likely decision is the demonstrated one


class TokenCloning(NamedTuple):
    """The loss of the tokens."""

    loss: Tensor
    utterances: Tensor  # the number of utterances


class OtherTexts(NamedTuple):
    """The lane whose language is paired with each lane's vision, where it belongs to another part of the batch."""

    text: Tensor  # int [T, B, L]
    read: Callable[[Tensor], Tensor]  # tokens [N, L] -> what the discriminator gets of them, [N, F] or the tokens


class CSSPairs(NamedTuple):
    """The rows of the pairs of CSS."""

    matching: SelectedRows
    mismatching: SelectedRows


class CSS(NamedTuple):
    """The loss of discriminating matching from mismatching pairs of vision and language."""

    loss: Tensor
    accuracy: Tensor  # with equal weights for matching and mismatching pairs; 0.5 is chance
    pairs: Tensor  # [2]: the number of matching and of mismatching pairs
    losses: tuple[Tensor, Tensor]  # half the means of matching and of mismatching pairs; their sum is `loss`
    accuracies: tuple[Tensor, Tensor]  # likewise


def movement_cloning(*, log_probs: Tensor, mask: Tensor, reduce: Reduce = "sum") -> Tensor:
    """Negative log-likelihood of a movement chunk, averaged over the unmasked steps; a scalar.

    `reduce="sum"` adds the A * K components of a chunk, as the paper does; "mean" averages them, which keeps the
    term from dominating the policy gradient in small agents (design choice of some presets).

    Args:
        log_probs: float [T, B, A, K], of the demonstrated action, by action of the chunk and component.
        mask: bool [T, B].
    """
    check_shapes(log_probs=(log_probs, "float [T, B, A, K]"), mask=(mask, "bool [T, B]"))
    chunk = log_probs.flatten(2)  # [T, B, A*K]
    return -masked_mean(chunk.sum(-1) if _sums(reduce) else chunk.mean(-1), mask)


def _sums(reduce: Reduce) -> bool:
    """Whether parts are added, instead of averaged.

    Raises:
        ValueError: `reduce` is neither "sum" nor "mean".
    """
    if reduce not in get_args(Reduce):
        raise ValueError(f'reduce={reduce!r} is neither "sum" nor "mean"')
    return reduce == "sum"


def gate_cloning(*, logits: Tensor, spoke: Tensor, mask: Tensor) -> GateCloning:
    """Binary cross-entropy of the gate, averaged over the unmasked steps.

    Args:
        logits: float [T, B], of speaking.
        spoke: bool [T, B], whether the demonstrator spoke.
        mask: bool [T, B].
    """
    check_shapes(logits=(logits, "float [T, B]"), spoke=(spoke, "bool [T, B]"), mask=(mask, "bool [T, B]"))
    loss = functional.binary_cross_entropy_with_logits(logits, spoke.to(logits.dtype), reduction="none")
    with torch.no_grad():
        right = ((logits > 0) == spoke).to(logits.dtype)
    return GateCloning(masked_mean(loss, mask), masked_mean(right, mask))


def token_cloning(*, log_probs: Tensor, tokens: Tensor, reduce: Reduce = "sum") -> TokenCloning:
    """Negative log-likelihood of demonstrated utterances, averaged over utterances; padding is ignored.

    Language cloning is `gate_cloning` plus this. Design choice: the mean is over *utterances*, not over all steps,
    because people speak in one step of many, and words would otherwise be learned that many times slower.
    `ObjectiveConfig.words="step"` multiplies by the share of steps with an utterance, for the likelihood of a step.

    Args:
        log_probs: float [N, L], of the tokens of N utterances; N may be 0.
        tokens: int [N, L], including the end token, padded with `PAD`.
        reduce: "sum" adds the tokens of an utterance, "mean" averages them.
    """
    check_shapes(log_probs=(log_probs, "float [N, L]"), tokens=(tokens, "int [N, L]"))
    real = tokens != PAD
    kept = torch.where(real, log_probs, torch.zeros_like(log_probs))
    said = kept.sum(-1)  # [N]
    utterances = real.any(-1)
    length = real.sum(-1).clamp(min=1)
    loss = -masked_mean(said if _sums(reduce) else said / length, utterances)
    return TokenCloning(loss, utterances.sum())


def shuffled_lanes(lanes: int, generator: torch.Generator) -> Tensor:
    """A random permutation of lanes without fixed points, int64 [B]: lane b is paired with `result[b]`.

    Raises:
        ValueError: there is only one lane.
    """
    if lanes < 2:
        raise ValueError(f"CSS pairs a lane with another one, got {lanes} lane(s); set at least 2 cloning lanes")
    order = torch.randperm(lanes, generator=generator)
    shift = int(torch.randint(1, lanes, (), generator=generator))
    shuffled = torch.empty_like(order)
    shuffled[order] = order.roll(shift)  # steps along a random cycle of all lanes
    return shuffled


def css(
    *,
    discriminator: Callable[[Tensor, Tensor], Tensor],
    vision: Tensor,
    language: Tensor | None,
    text: Tensor,
    mask: Tensor,
    permutation: Tensor,
    gather: Callable[[Tensor], Tensor] = lambda lanes: lanes,
    others: OtherTexts | None = None,
    pairs: CSSPairs | None = None,
) -> CSS:
    """Contrastive self-supervision: a discriminator predicts whether vision and language match.

    Binary cross-entropy (not InfoNCE) of matching pairs, a lane's vision with its own language, and of mismatching
    pairs, its vision with the language of another lane at the same row; both kinds have the same weight. A pair counts
    if it has language; a mismatching one only if the texts of the two lanes differ.

    Args:
        discriminator: (vision [N, E], language [N, F]) -> logits [N] of matching.
        vision, language: float [T, B, E] and [T, B, F]. Without `language` the discriminator gets the tokens [N, L].
        text: int [T, B, L], the tokens that `language` embeds, padded with `PAD`.
        mask: bool [T, B], rows that may form pairs.
        permutation: int64 [B], the lane whose language is paired with each lane's vision: see `shuffled_lanes`.
        gather: concatenates the lanes of all ranks, [T, B, ...] -> [T, G, ...], which `permutation` indexes.
            Propagates gradients.
        others: the texts of the other lanes, in place of `gather` and `permutation`, if those lanes are not here; with
            `pairs` only.
        pairs: as `css_pairs` finds them in `mask` and the texts; None: they are found here, which waits for a GPU.
    """
    check_shapes(
        vision=(vision, "float [T, B, E]"),
        **({} if language is None else {"language": (language, "float [T, B, F]")}),
        text=(text, "int [T, B, L]"),
        mask=(mask, "bool [T, B]"),
        permutation=(permutation, "int64 [B]"),
    )
    if pairs is None:
        other_text, other_mask = (gather(each)[:, permutation] for each in (text, mask))
        found = css_pairs(text=text, mask=mask, other_text=other_text, other_mask=other_mask)
        pairs = CSSPairs(*map(select_rows, found))
    matching, mismatching = pairs
    read = text if language is None else language
    pairs_vision = torch.cat([matching.take(vision), mismatching.take(vision)])  # [N, E]
    if others is None:
        other = mismatching.take(gather(read)[:, permutation])
    else:
        other = others.read(mismatching.take(others.text))
    pairs_language = torch.cat([matching.take(read), other])
    logits = discriminator(pairs_vision, pairs_language)
    count = len(matching.step)
    return _discrimination(logits[:count], logits[count:], pairs)


def css_pairs(*, text: Tensor, mask: Tensor, other_text: Tensor, other_mask: Tensor) -> tuple[Tensor, Tensor]:
    """The rows whose language forms a matching pair, and those with a mismatching one, both bool [T, B].

    Args:
        text, other_text: int [T, B, L], of each lane and of the lane that it is paired with, padded with `PAD`.
        mask, other_mask: bool [T, B], rows that may form pairs, likewise.
    """
    readable = other_mask & (other_text != PAD).any(-1)
    return mask & (text != PAD).any(-1), mask & readable & (other_text != text).any(-1)


def _discrimination(same: Tensor, different: Tensor, pairs: CSSPairs) -> CSS:
    """The loss and the accuracy of the logits of matching pairs and of those of mismatching pairs."""
    losses = (
        0.5 * pairs.matching.mean(functional.softplus(-same)),
        0.5 * pairs.mismatching.mean(functional.softplus(different)),
    )
    with torch.no_grad():
        right = (same > 0).to(same.dtype), (different <= 0).to(same.dtype)
        accuracies = 0.5 * pairs.matching.mean(right[0]), 0.5 * pairs.mismatching.mean(right[1])
    counts = torch.stack([rows.number() for rows in pairs])
    return CSS(losses[0] + losses[1], accuracies[0] + accuracies[1], counts, losses, accuracies)


def value_loss(*, value: Tensor, targets: Tensor, mask: Tensor, factor: float = 0.5) -> Tensor:
    """`factor` times the squared error of the value head, averaged over the unmasked steps; all [T, B].

    Targets are constants.
    """
    check_shapes(value=(value, "float [T, B]"), targets=(targets, "float [T, B]"), mask=(mask, "bool [T, B]"))
    return factor * masked_mean((targets.detach() - value).square(), mask)


def gate_kl(*, logits: Tensor, reference_logits: Tensor, mask: Tensor) -> Tensor:
    """KL(pi || pi_BC) of the speak-or-stay-silent gate, averaged over the unmasked steps; all [T, B].

    Design choice: this direction, which penalizes most what the cloned policy never does. No gradient flows to the
    reference.
    """
    check_shapes(
        logits=(logits, "float [T, B]"),
        reference_logits=(reference_logits, "float [T, B]"),
        mask=(mask, "bool [T, B]"),
    )
    reference = reference_logits.detach()
    speak = torch.sigmoid(logits)
    surplus_speak = functional.logsigmoid(logits) - functional.logsigmoid(reference)
    surplus_silent = functional.logsigmoid(-logits) - functional.logsigmoid(-reference)
    return masked_mean(speak * surplus_speak + (1 - speak) * surplus_silent, mask)
