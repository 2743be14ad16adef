"""Agent sizes by name. Parameter counts are for the Playhouse at 72x96 with about 500 words."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from interplay.core.named_class import names_class
from interplay.episodes.vocabulary import TokenKind, VocabularyConfig

MAX_WIDTH, MAX_LAYERS = 65_536, 1_000  # far above any agent that can be trained

AttentionKind = Literal["full", "aggregate", "none"]
MovementKind = Literal["independent", "autoregressive"]
CSSInput = Literal["tower", "transformer"]


@dataclass(frozen=True)
class AgentConfig:
    """Architecture of an agent. Design choices, where the papers give no value, are marked."""

    # Actions and text.
    actions_per_step: int = 8  # distinct movement actions a step; design choice: small agents learn faster with 1
    utterance_length: int = 16  # tokens of an utterance, including its end
    tokens: TokenKind = "words"  # lower-case words without punctuation, or characters as they are
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)

    # The image tower: a patchify stem, then stages; each stage but the first halves the resolution. Empty: this one, or
    # MODULE:CLASS for an `ImageTower` of your own, for which patch, channels and blocks mean what it makes of them.
    image_tower: str = ""
    patch: int = 2  # side of the stem's patches, pixels
    channels: tuple[int, ...] = (64, 128, 256)  # of each stage
    blocks: tuple[int, ...] = (1, 2, 4)  # residual blocks of each stage
    text_film: bool = False  # design choice: text modulates the last stage (FiLM); small nets ground words sooner

    # The multi-modal transformer.
    width: int = 256  # of its tokens
    layers: int = 8  # blocks of self-attention
    attention_heads: int = 8  # of each block; they divide its width
    feedforward: int = 4  # hidden width of a block, in multiples of its width
    aggregation_tokens: int = 4  # learned tokens, whose outputs go to the recurrent core
    # Design choice: with "aggregate" only the aggregation tokens are queries, which costs a fraction; "none" feeds the
    # concatenated tokens to the LSTM, as in IMPALA's agents.
    attention: AttentionKind = "full"

    # Design choice: whether the previous action is an input. Small nets learn to repeat it instead of using the image.
    previous_action: bool = True
    # The components of the movement that this input shows, by their names in the world's spec; empty: all. The grasp
    # alone shows a small net whether it holds something, and no walk or turn to repeat.
    previous_components: tuple[str, ...] = ()

    # The recurrent core and the heads.
    lstm: int = 512  # units of the recurrent core
    utility_remembers: bool = True  # design choice: with memory, small reward models learn the elapsed time
    # The components of a step's actions are drawn independently given the core, or one after another, each given those
    # before it (the paper's policy is hierarchical; design choice: independent, which is faster).
    movement: MovementKind = "independent"
    # Design choice: whether the heads of the policy and the value see the memory, or the present step alone. Small nets
    # that see it learn to go on as before instead of using image and text.
    policy_remembers: bool = True
    policy_hidden: int = 512  # width of the hidden layer of the movement head
    value_hidden: int = 512  # the same of the value and the utility
    decoder_width: int = 256  # of the transformer that writes utterances
    decoder_layers: int = 2  # of the same
    decoder_heads: int = 4  # of attention, in each of its layers
    contrast_hidden: int = 256  # the discriminator of matching vision and language
    # What the discriminator reads: the tower's features and those of the text (design choice: cheap, and possible with
    # text_film), or the output of the transformer for the tokens of both, which trains the transformer too.
    css_input: CSSInput = "tower"

    def __post_init__(self) -> None:
        problems = self._sizes_out_of_range()
        if problems:
            raise ValueError("; ".join(problems))
        if len(self.channels) != len(self.blocks) or not self.channels:
            problems.append(f"agent.channels={self.channels} and agent.blocks={self.blocks} need one entry a stage")
        if self.width % self.attention_heads:
            problems.append(f"agent.attention_heads={self.attention_heads} does not divide agent.width={self.width}")
        if self.decoder_width % self.decoder_heads:
            problems.append(
                f"agent.decoder_heads={self.decoder_heads} does not divide agent.decoder_width={self.decoder_width}"
            )
        if self.image_tower and not names_class(self.image_tower):
            problems.append(
                f"agent.image_tower={self.image_tower}: MODULE:CLASS for an ImageTower of your own, as "
                "my_towers:Pretrained, or empty for the built-in one"
            )
        problems += self._unusable_css_input()
        if self.previous_components and not self.previous_action:
            problems.append(
                f"agent.previous_components={list(self.previous_components)} has no effect with "
                "agent.previous_action=false; set agent.previous_action=true, or agent.previous_components=[]"
            )
        if self.utterance_length < 2:
            problems.append(f"agent.utterance_length={self.utterance_length} leaves no room for a word and its end")
        if problems:
            raise ValueError("; ".join(problems))

    def _unusable_css_input(self) -> list[str]:
        """Settings with which the transformer cannot tell matching from mismatching pairs."""
        if self.css_input not in get_args(CSSInput):
            return [f"agent.css_input={self.css_input!r} is not one of {', '.join(get_args(CSSInput))}"]
        if self.css_input == "transformer" and self.text_film:
            return [
                "agent.css_input=transformer with agent.text_film=true: the tokens of the image depend on its own text "
                "already; set agent.text_film=false, or agent.css_input=tower"
            ]
        if self.css_input == "transformer" and self.attention == "none":
            return ["agent.css_input=transformer with agent.attention=none: there is no transformer"]
        return []

    def _sizes_out_of_range(self) -> list[str]:
        """Widths below 1 or above `MAX_WIDTH`, and numbers of layers out of range."""
        problems = []
        for each in fields(self):
            value = getattr(self, each.name)
            sizes = [size for size in (value if isinstance(value, tuple) else [value]) if type(size) is int]
            least = 0 if each.name == "blocks" else 1
            most = MAX_LAYERS if each.name in ("blocks", "layers", "decoder_layers") else MAX_WIDTH
            if any(not least <= size <= most for size in sizes):
                problems.append(f"agent.{each.name} must be {least} to {most:,}, got {value}")
        return problems


SIZES: dict[str, AgentConfig] = {
    "nano": AgentConfig(
        actions_per_step=1,
        utterance_length=12,
        patch=4,
        channels=(32, 32),
        blocks=(0, 1),
        text_film=True,
        width=64,
        layers=1,
        attention_heads=4,
        feedforward=2,
        attention="aggregate",
        previous_action=False,
        lstm=128,
        utility_remembers=False,
        policy_hidden=128,
        value_hidden=128,
        decoder_width=48,
        decoder_layers=1,
        contrast_hidden=64,
    ),
    "5m": AgentConfig(width=128, channels=(64, 64, 128), lstm=256, decoder_width=128, contrast_hidden=128),
    "18m": AgentConfig(width=256, channels=(64, 128, 256), lstm=512, decoder_width=256, contrast_hidden=256),
    "71m": AgentConfig(
        width=512, channels=(64, 256, 512), lstm=1024, decoder_width=512, decoder_heads=8, contrast_hidden=512
    ),
    "165m": AgentConfig(
        width=768,
        attention_heads=12,
        channels=(96, 384, 768),
        lstm=1536,
        decoder_width=768,
        decoder_heads=12,
        contrast_hidden=768,
    ),
}
