import numpy as np
import pytest
from number_line_world import NumberLine

from interplay.env.world import Start, View
from interplay.episodes.episode import Episode, EpisodeMeta, Utterance
from interplay.players.player import ReplayedSetter


def recording(frames_per_step: int = 2) -> Episode:
    meta = EpisodeMeta(
        id="abc",
        world="number line",
        world_version=1,
        world_config={},
        seed=0,
        created=0.0,
        round=0,
        frames=3 * frames_per_step,
        frames_per_step=frames_per_step,
        players={},
        control={},
        utterances=(Utterance(frames_per_step, "setter", "walk 8"), Utterance(2 * frames_per_step, "solver", "8")),
        tasks=(),
    )
    actions = np.arange(3 * frames_per_step, dtype=np.int8)[:, None] % 3
    return Episode(meta, b"", {"setter": actions}, np.zeros(3, np.float32))


def test_it_does_and_says_what_was_recorded_and_then_rests() -> None:
    world = NumberLine()
    world.reset(Start(seed=0))
    player = ReplayedSetter(recording())
    for _ in range(2):  # twice: it begins anew
        player.begin(world, "setter")
        done = [player.act(View(), world) for _ in range(4)]
        assert [action.movement[:, 0].tolist() for action in done] == [[0, 1], [2, 0], [1, 2], [1, 1]]
        assert [action.utterance for action in done] == [None, "walk 8", None, None]
        assert player.finished


def test_it_is_not_finished_before_the_end() -> None:
    world = NumberLine()
    player = ReplayedSetter(recording())
    player.begin(world, "setter")
    player.act(View(), world)
    player.act(View(), world)
    assert not player.finished


def test_a_role_that_was_not_recorded_is_refused() -> None:
    with pytest.raises(ValueError, match="no actions of 'solver'; it has those of setter"):
        ReplayedSetter(recording()).begin(NumberLine(), "solver")


def test_actions_of_another_world_are_refused() -> None:
    with pytest.raises(ValueError, match="8 frames a step"):
        ReplayedSetter(recording(frames_per_step=8)).begin(NumberLine(), "setter")
