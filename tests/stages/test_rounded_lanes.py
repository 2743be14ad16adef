"""Shares of lanes that rounding changes much, because each process of a stage under Ray has few lanes, are named."""

from __future__ import annotations

from dataclasses import replace

from interplay.actors.dataset_actor import DatasetConfig
from interplay.actors.setter_replay_actor import SetterReplayConfig
from interplay.stages.process_layout import rounding_advice


def test_learned_setters_in_every_lane_instead_of_a_tenth_are_named() -> None:
    whole = SetterReplayConfig(lanes=16, learned_setters=0.1)
    each = replace(whole, lanes=1)
    said = rounding_advice("a", whole=whole.learned_lanes, each=each.learned_lanes, of=16, fewer="b") or ""
    assert said.startswith("a is 16 lanes of a batch instead of 2: ") and said.endswith("or lower b")


def test_shares_that_rounding_hardly_changes_are_not_named() -> None:
    for lanes, share, of in ((64, 0.4, 4), (64, 0.25, 16), (16, 0.0, 4), (16, 0.5, 1)):
        whole = DatasetConfig(lanes=lanes, around_utterances=share)
        each = replace(whole, lanes=lanes // of)
        assert rounding_advice("a", whole=whole.utterance_lanes, each=each.utterance_lanes, of=of, fewer="b") is None
