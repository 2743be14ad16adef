"""A reward model that reads the utterances of an agent with another vocabulary."""

from __future__ import annotations

from interplay.agent.observation import UTTERANCE_ARRAYS, Arrays
from interplay.agent.weights import Weights
from interplay.episodes.token_translation import TokenTranslation
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll


class TranslatedReward(RewardFunction):
    """Translates the observed utterances of an unroll before another reward function scores it."""

    def __init__(self, function: RewardFunction, translation: TokenTranslation) -> None:
        self._function = function
        self._translation = translation
        self.version = function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        translated = {key: self._translation(arrays[key]) for key in UTTERANCE_ARRAYS if key in arrays}
        return self._function.score({**arrays, **translated}, lane_state)

    def load_version(self, weights: Weights, version: int) -> None:
        self._function.load_version(weights, version)
        self.version = version
