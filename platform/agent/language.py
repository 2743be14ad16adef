"""Language head: a gate (speak or stay silent) and a small causal transformer that generates the utterance."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from interplay.agent.heads import choose
from interplay.agent.noise import Noise
from interplay.agent.selected_rows import SelectedRows, select_rows
from interplay.agent.sizes import AgentConfig
from interplay.agent.transformer import IMPOSSIBLE_LOGIT, Block
from interplay.episodes.vocabulary import END, PAD, SPECIAL, START, UNKNOWN

INITIAL_GATE_LOGIT = -3.0  # design choice: at this logit an untrained agent speaks in one step of twenty


def selected_tokens(rows: SelectedRows, tokens: Tensor) -> Tensor:
    """The tokens of some rows of [T, B, L], int [N, L]; those of padding are `PAD`, so that no loss counts them."""
    return torch.where(rows.real[:, None], rows.take(tokens), PAD)


class LanguageHead(nn.Module):
    """Generates utterances token by token, conditioned on the core features of the step.

    Special tokens other than `END` have probability 0; an unknown word in a recorded utterance has no loss. The last
    position of an utterance can only be its end.
    """

    def __init__(self, inputs: int, config: AgentConfig, vocabulary_size: int, length: int) -> None:
        super().__init__()
        width = config.decoder_width
        self.length = length
        self.gate = nn.Linear(inputs, 1)
        self.condition = nn.Linear(inputs, width)
        self.word = nn.Embedding(vocabulary_size, width)
        self.place = nn.Parameter(torch.randn(length, width) * 0.3)
        self.blocks = nn.ModuleList(
            Block(width, config.decoder_heads, config.feedforward) for _ in range(config.decoder_layers)
        )
        self.norm = nn.LayerNorm(width)
        self.next = nn.Linear(width, vocabulary_size)
        nn.init.constant_(self.gate.bias, INITIAL_GATE_LOGIT)

    def forward(self, core: Tensor) -> Tensor:
        """Logit of speaking, [..., inputs] -> [...]."""
        return cast(Tensor, self.gate(core)[..., 0])

    def token_log_probs(self, core: Tensor, tokens: Tensor) -> Tensor:
        """Log-probability of each token given those before it, with teacher forcing.

        Args:
            core: [N, inputs], of the steps with an utterance.
            tokens: [N, L], each row an utterance: its words, `END`, then `PAD`.

        Returns:
            [N, L], 0 at padding and at unknown words.
        """
        tokens = tokens.long()
        start = tokens.new_full((tokens.shape[0], 1), START)
        log_probs = self._logits(core, torch.cat([start, tokens[:, :-1]], dim=1)).log_softmax(-1)
        counted = (tokens != PAD) & (tokens != UNKNOWN)
        return torch.where(counted, log_probs.gather(-1, tokens[..., None])[..., 0], 0.0)

    def utterance_log_probs(self, core: Tensor, spoke: Tensor | SelectedRows, tokens: Tensor) -> Tensor:
        """Log-probability of whole utterances, without the gate's; 0 at silent steps.

        core [T, B, inputs], tokens [T, B, L] -> [T, B]. `spoke` are the steps with an utterance, as bool [T, B] or
        selected before, which does not wait for a GPU. The decoder runs on these steps only.
        """
        rows = select_rows(spoke) if isinstance(spoke, Tensor) else spoke
        log_probs = self.token_log_probs(rows.take(core), selected_tokens(rows, tokens)).sum(-1)
        # Padding adds 0 to the first step of the first lane.
        return core.new_zeros(core.shape[:2]).index_put((rows.step, rows.lane), log_probs, accumulate=True)

    def write(self, core: Tensor, noise: Noise, greedy: bool) -> tuple[Tensor, Tensor]:
        """Generate one utterance for each row of `core` [N, inputs].

        Returns:
            The tokens, int64 [N, L], and the log-probability of each utterance, [N].
        """
        tokens = torch.full((core.shape[0], self.length + 1), PAD, device=core.device)
        tokens[:, 0] = START
        total = core.new_zeros(core.shape[0])
        writing = torch.ones(core.shape[0], dtype=torch.bool, device=core.device)
        here = writing.cpu()  # on the host: which streams draw, and whether any still writes
        for place in range(self.length):
            logits = self._logits(core, tokens[:, : place + 1])[:, -1]
            token = choose(logits, noise, greedy, needed=here)
            log_prob = logits.log_softmax(-1).gather(-1, token[:, None])[:, 0]
            total = total + torch.where(writing, log_prob, 0.0)
            tokens[:, place + 1] = torch.where(writing, token, PAD)
            writing = writing & (token != END)
            here = writing.cpu()
            if not here.any():
                break
        return tokens[:, 1:], total

    def _logits(self, core: Tensor, before: Tensor) -> Tensor:
        """[N, inputs] and the tokens before each position [N, P] -> logits [N, P, vocabulary]."""
        places = before.shape[1]
        x = self.word(before) + self.place[:places] + self.condition(core)[:, None, :]
        for block in self.blocks:
            x = block(x, causal=True)
        logits = cast(Tensor, self.next(self.norm(x)))
        forbidden = torch.zeros(places, logits.shape[-1], dtype=torch.bool, device=logits.device)
        forbidden[:, : len(SPECIAL)] = True
        wordless = logits.shape[-1] == len(SPECIAL)
        forbidden[0 if wordless else 1 :, END] = False  # an utterance has at least one word, if there is any
        forbidden[self.length - 1 :] = True
        forbidden[self.length - 1 :, END] = False
        return logits.masked_fill(forbidden, IMPOSSIBLE_LOGIT)
