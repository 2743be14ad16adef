"""The dataset actor: its rows equal the inputs of an agent in the seat, with matching marks and masks."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from dataset_actors import CONFIG, LAYOUT, MARKS, STEPS, actor_of, episodes, lanes_rows, name
from fake_world import TINY, WORDS, LineWorld, assert_same_arrays, make_snapshot, record_episode, with_number

from interplay.actors.augmentation import AugmentationConfig
from interplay.actors.dataset_actor import DatasetActor, DatasetConfig
from interplay.actors.row_writer import RowWriter
from interplay.agent.inputs import LaneInputs
from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import allocate_demonstration
from interplay.env.world import View
from interplay.episodes.decoded_episode import decode_for_role
from interplay.episodes.episode import Mark
from interplay.episodes.lane_reader import EpisodeSource, EpisodeWindow, LaneReader
from interplay.episodes.moment_windows import MomentReader, instruction_moments, marked_moments, spoken_moments
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import SPECIAL, UNKNOWN


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return make_snapshot(tmp_path, episodes(), MARKS)


def as_seen(number: int, role: str = "solver") -> list[Arrays]:
    """The observations of each row by `LaneInputs`, from the views and the recorded actions of a role."""
    episode, views = record_episode(LineWorld(), number, STEPS[number])
    inputs = LaneInputs(LAYOUT, WORDS, 1)
    inputs.reset(0)
    rows = []
    for row, seen in enumerate(views):
        view: View = seen[role]
        inputs.observe(0, view)
        rows.append({key: array[0, 0].copy() for key, array in inputs.arrays.items()})
        if row < STEPS[number]:
            inputs.record_action(0, episode.actions[role][2 * row : 2 * row + 2])
    return rows


def split(rows: Arrays) -> Iterator[tuple[int, Arrays]]:
    """(number, rows) of every complete episode of a lane, identified by the setter's position and the length."""
    cuts = [*np.flatnonzero(rows["first"]), len(rows["first"])]
    for start, stop in pairwise(cuts):
        part = {key: array[start:stop] for key, array in rows.items()}
        if part["last"][-1]:
            yield STEPS.index(stop - start - 1), part


def test_rows_equal_the_inputs_of_an_agent_in_the_seat(snapshot: Snapshot) -> None:
    met = set()
    for rows in lanes_rows(actor_of(snapshot), 10):
        for number, part in split(rows):
            expected = as_seen(number)
            for row, observation in enumerate(expected):
                for key, array in observation.items():
                    np.testing.assert_array_equal(part[key][row], array, err_msg=f"{key} of row {row} of {number}")
            met.add(number)
    assert met == set(range(len(STEPS)))


def test_a_setters_rows_are_its_own_views_and_its_targets_its_own_actions(snapshot: Snapshot) -> None:
    layout = replace(LAYOUT, role="setter")
    reader = LaneReader(snapshot, 2, 3, world=LineWorld(), role="setter")
    rng = np.random.default_rng(0)
    actor = DatasetActor(reader=reader, layout=layout, vocabulary=WORDS, config=CONFIG, rng=rng)
    met = set()
    for rows in lanes_rows(actor, 10):
        for number, part in split(rows):
            episode, steps = episodes()[number], STEPS[number]
            for row, observation in enumerate(as_seen(number, "setter")):
                for key, array in observation.items():
                    np.testing.assert_array_equal(part[key][row], array, err_msg=f"{key} of row {row} of {number}")
            movement = episode.actions["setter"].reshape(steps, 2, 2)
            np.testing.assert_array_equal(part["movement"][:-1], movement)
            spoken = {1: "walk to two" if number % 2 == 0 else "count houses", 4: "hello"}
            assert list(np.flatnonzero(part["spoke"])) == [step for step in spoken if step < steps]
            for step in np.flatnonzero(part["spoke"]):
                assert WORDS.decode(part["tokens"][step]) == spoken[step]
            assert part["cloned"].all()  # an agent played the solver of the third, a person its setter
            met.add(number)
    assert met == set(range(len(STEPS)))


def test_targets_are_the_recorded_movements_and_utterances(snapshot: Snapshot) -> None:
    for rows in lanes_rows(actor_of(snapshot), 6):
        for number, part in split(rows):
            episode, steps = episodes()[number], STEPS[number]
            np.testing.assert_array_equal(part["row"], np.arange(steps + 1))
            np.testing.assert_array_equal(part["last"], np.arange(steps + 1) == steps)
            np.testing.assert_array_equal(part["movement"][:-1].reshape(-1, 2), episode.actions["solver"])
            np.testing.assert_array_equal(part["movement"][-1], LAYOUT.rest())
            np.testing.assert_array_equal(part["env_reward"], [*episode.env_reward, 0])
            said = [*episode.said("solver"), None]
            np.testing.assert_array_equal(part["spoke"], [text is not None for text in said])
            np.testing.assert_array_equal(part["tokens"], [WORDS.encode(text or "", 5) for text in said])


def test_marks_lie_a_row_after_their_step_one_rater_a_passage(snapshot: Snapshot) -> None:
    ann = [0, 0, 0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]
    bob = [0] * 8, [0, 0, 0, 0, 1, 0, 0, 0]
    seen = []
    for rows in lanes_rows(actor_of(snapshot), 60):
        for number, part in split(rows):
            marks = part["positive"].tolist(), part["negative"].tolist()
            if number == 0:
                assert marks in (ann, bob)  # its 8 rows span two windows at least, so these agree on the rater
                seen.append(marks == ann)
            elif number == 2:
                assert marks == ([*[0] * 9, 1], [0] * 10)
            else:
                assert not any(map(any, marks))
    assert 0 < sum(seen) < len(seen)


def test_steps_steered_by_an_agent_are_not_cloned(snapshot: Snapshot) -> None:
    for rows in lanes_rows(actor_of(snapshot), 12):
        for number, part in split(rows):
            expected = np.arange(STEPS[number] + 1) >= 5 if number == 2 else np.ones(STEPS[number] + 1, bool)
            np.testing.assert_array_equal(part["cloned"], expected)


def test_a_complete_episode_is_written_like_its_windows(snapshot: Snapshot) -> None:
    episode = decode_for_role(
        snapshot.read(name(0)), "solver", marks=[m for m in MARKS if m.rater == "ann"], world=LineWorld()
    )
    whole = RowWriter(LAYOUT, WORDS).encode_episode(episode)
    assert whole["first"].shape == (8, 1)
    for row, observation in enumerate(as_seen(0)):
        for key, array in observation.items():
            np.testing.assert_array_equal(whole[key][row, 0], array)
    assert whole["positive"][3, 0] == 2


def test_hundreds_of_marks_of_one_frame_are_counted(snapshot: Snapshot) -> None:
    marks = [Mark(name(0), "ann", 4, 1)] * 300 + [Mark(name(0), "ann", 4, -1)] * 200
    episode = decode_for_role(snapshot.read(name(0)), "solver", marks=marks, world=LineWorld())
    arrays = RowWriter(LAYOUT, WORDS).encode_episode(episode)
    assert (arrays["positive"][3, 0], arrays["negative"][3, 0]) == (300, 200)


@pytest.mark.parametrize(
    "augmentation", [None, AugmentationConfig(0.7, "windows", mirror=0.5), AugmentationConfig(1.0, mirror=0.5)]
)
def test_it_resumes_bit_for_bit(snapshot: Snapshot, augmentation: AugmentationConfig | None) -> None:
    straight = actor_of(snapshot, augmentation=augmentation)
    resumed = actor_of(snapshot, augmentation=augmentation)
    for _ in range(3):
        straight.unroll()
    file = io.BytesIO()
    torch.save(straight.state(), file)
    file.seek(0)
    resumed.load_state(torch.load(file, weights_only=True))
    for _ in range(6):
        one, other = straight.unroll(), resumed.unroll()
        assert_same_arrays(one.arrays, other.arrays)
        assert one.episodes == other.episodes


def test_blocks_are_refilled_only_after_as_many_calls(snapshot: Snapshot) -> None:
    actor = actor_of(snapshot)
    first = actor.unroll().arrays
    kept = {key: array.copy() for key, array in first.items()}
    actor.unroll()
    assert_same_arrays(first, kept)
    assert actor.unroll().arrays is first


@pytest.mark.parametrize("instruction_share", [0.0, 1.0])
def test_swapped_lanes_show_whole_episodes_swapped_and_keep_the_true_ones(
    snapshot: Snapshot, instruction_share: float
) -> None:
    """All windows of an episode agree with one swap of the whole episode; the true lanes do not change."""
    config = replace(CONFIG, lanes=4)
    settings = AugmentationConfig(1.0, instruction_share=instruction_share)
    assert settings.swapped_lanes(4) == 2 and AugmentationConfig(0.33).swapped_lanes(96) == 24
    plain, changed = actor_of(snapshot, config), actor_of(snapshot, config, augmentation=settings)
    texts: dict[int, set[bytes]] = {}  # swapped instructions by lane, within an episode
    slips: dict[int, int] = {}  # marks of swapped utterances
    swapped_rows = negative = 0
    for _ in range(30):
        before, after = plain.unroll().arrays, changed.unroll().arrays
        assert after["untouched"][:, :2].all()
        for key in before:
            np.testing.assert_array_equal(after[key][:, :2], before[key][:, :2], err_msg=key)
        touched = ~after["untouched"]
        swapped_rows += int(touched.sum())
        assert not (after["cloned"] & touched).any() and not (after["positive"] > 0)[touched].any()
        negative += int(after["negative"][touched].sum())
        for lane in (2, 3):
            for t in range(len(touched)):
                if after["first"][t, lane]:
                    texts[lane], slips[lane] = set(), 0
                heard = after["heard"][t, lane]
                if touched[t, lane] and not instruction_share:
                    slips[lane] += int(after["negative"][t, lane])
                    assert slips[lane] <= 1
                if touched[t, lane] and heard.any() and instruction_share:
                    assert (heard != before["heard"][t, lane]).any()
                    texts[lane].add(heard.tobytes())
                    assert len(texts[lane]) == 1
    assert swapped_rows > 20 and negative > 0


def test_augmented_rows_are_excluded_from_cloning_and_contrast(snapshot: Snapshot) -> None:
    plain, changed = actor_of(snapshot), actor_of(snapshot, augmentation=AugmentationConfig(0.7, "windows"))
    touched = 0
    for _ in range(20):
        before, after = plain.unroll().arrays, changed.unroll().arrays
        untouched = after["untouched"]
        np.testing.assert_array_equal(after["cloned"], before["cloned"] & untouched)
        for key in before:
            np.testing.assert_array_equal(after[key][untouched], before[key][untouched], err_msg=key)
        different = (after["heard"] != before["heard"]).any(-1) | (after["said"] != before["said"]).any(-1)
        touched += int(different.sum())
        for key in ("image", "vector", "previous", "movement", "first", "last"):
            np.testing.assert_array_equal(after[key], before[key])
    assert touched > 20


def test_mirrored_episodes_are_not_cloned_but_otherwise_unchanged(snapshot: Snapshot) -> None:
    plain, shown = actor_of(snapshot), actor_of(snapshot, augmentation=AugmentationConfig(probability=0.0, mirror=0.5))
    seen = 0
    for _ in range(20):
        before, after = plain.unroll().arrays, shown.unroll().arrays
        turned = (after["image"] != before["image"]).any((2, 3, 4))
        np.testing.assert_array_equal(after["image"][turned], before["image"][turned][:, :, ::-1])
        assert not after["cloned"][turned].any() and after["untouched"].all()
        for key in set(before) - {"image", "cloned"}:
            np.testing.assert_array_equal(after[key], before[key])
        seen += int(turned.sum())
    assert 0 < seen < 20 * before["first"].size


def around_moments(snapshot: Snapshot, config: DatasetConfig, **settings: Any) -> DatasetActor:
    """An actor whose first lanes show windows around utterances, then after instructions, as far as `config` wants."""
    reader = LaneReader(
        snapshot, config.lanes - config.utterance_lanes - config.instruction_lanes, 3, world=LineWorld()
    )
    spoken, instructed = (
        MomentReader(reader.source, moments, 4) if lanes else None
        for moments, lanes in (
            (spoken_moments(snapshot, "solver"), config.utterance_lanes),
            (instruction_moments(snapshot, "solver", config.steps), config.instruction_lanes),
        )
    )
    parts = {"layout": LAYOUT, "vocabulary": WORDS, "config": config, "rng": np.random.default_rng(0), **settings}
    return DatasetActor(reader=reader, spoken=spoken, instructed=instructed, **parts)


@pytest.mark.parametrize(("utterances", "instructions"), [(1, 0), (0, 1), (1, 1)])
def test_lanes_around_moments_come_first_and_the_others_are_streams(
    snapshot: Snapshot, utterances: int, instructions: int
) -> None:
    around = utterances + instructions
    lanes = CONFIG.lanes + around
    config = replace(
        CONFIG, lanes=lanes, around_utterances=utterances / lanes, around_instructions=instructions / lanes
    )
    assert (config.utterance_lanes, config.instruction_lanes) == (utterances, instructions)
    actor, plain = around_moments(snapshot, config), actor_of(snapshot)
    worded = cloned = 0
    for _ in range(20):
        arrays, stream = actor.unroll().arrays, plain.unroll().arrays
        for key in stream:
            np.testing.assert_array_equal(arrays[key][:, around:], stream[key], err_msg=key)
        assert arrays["first"][0, :around].all() and ("words_cloned" in arrays) == bool(utterances)
        if utterances:
            np.testing.assert_array_equal(arrays["words_cloned"][:, around:], stream["cloned"])
            assert not arrays["cloned"][:, 0].any() and arrays["spoke"][:, 0].any()
            worded += int((arrays["spoke"] & arrays["words_cloned"])[:, 0].sum())
        if instructions:
            cloned += int(arrays["cloned"][:, around - 1].sum())
    assert (worded > 20) == bool(utterances) and (cloned > 20) == bool(instructions)


@pytest.mark.parametrize(("share", "lanes"), [(0.0, 0), (0.01, 1), (0.5, 2), (0.99, 3)])
def test_some_lanes_are_around_utterances_if_any_are_wanted_and_never_all(share: float, lanes: int) -> None:
    assert replace(CONFIG, lanes=4, around_utterances=share).utterance_lanes == lanes


def test_lanes_for_utterances_and_swaps_alone_are_refused(snapshot: Snapshot) -> None:
    with pytest.raises(ValueError, match="of 4 lanes 2 show windows around utterances or instructions and 2 swapped"):
        around_moments(snapshot, replace(CONFIG, lanes=4, around_utterances=0.5), augmentation=AugmentationConfig(1.0))


@pytest.mark.parametrize(
    "augmentation", [None, AugmentationConfig(1.0), AugmentationConfig(0.7, "windows", mirror=0.5)]
)
def test_lanes_around_moments_resume_bit_for_bit(snapshot: Snapshot, augmentation: AugmentationConfig | None) -> None:
    config = replace(CONFIG, lanes=5, around_utterances=0.2, around_instructions=0.2)
    straight, resumed = (around_moments(snapshot, config, augmentation=augmentation) for _ in range(2))
    for _ in range(3):
        straight.unroll()
    resumed.load_state(straight.state())
    touched = 0
    for _ in range(6):
        one = straight.unroll().arrays
        assert_same_arrays(one, resumed.unroll().arrays)
        untouched = one.get("untouched", np.ones_like(one["first"]))
        assert not (one["words_cloned"] & ~untouched).any()
        touched += int((~untouched).sum())
    assert (touched > 0) == (augmentation is not None)


def test_lanes_that_show_nothing_true_are_refused(snapshot: Snapshot) -> None:
    config = replace(CONFIG, lanes=2, around_utterances=0.5)
    with pytest.raises(ValueError, match="so none is left"):
        around_moments(snapshot, config, augmentation=AugmentationConfig(1.0))


def test_lanes_around_moments_leave_some_for_whole_episodes() -> None:
    with pytest.raises(ValueError, match="leave none of 4 lanes for whole episodes"):
        replace(CONFIG, lanes=4, around_utterances=0.5, around_instructions=0.5)


def test_windows_around_marks_start_with_an_empty_memory(snapshot: Snapshot) -> None:
    reader = MomentReader(EpisodeSource(snapshot, LineWorld(), "solver", 2**20), marked_moments(snapshot), 3)
    rng = np.random.default_rng(0)
    actor = DatasetActor(reader=reader, layout=LAYOUT, vocabulary=WORDS, config=CONFIG, rng=rng)
    for _ in range(12):
        arrays = actor.unroll().arrays
        assert arrays["first"][0].all()  # so that the memory of the previous window is dropped
        assert (arrays["positive"] + arrays["negative"])[1:].any(0).all()


@pytest.mark.parametrize("parts", [{"utterances": False}, {"movement": False}, {"image": False}])
def test_worlds_may_lack_an_image_movement_or_utterances(tmp_path: Path, parts: dict[str, bool]) -> None:
    recorded = [with_number(record_episode(LineWorld(**parts), seed, 7)[0], seed) for seed in range(3)]
    layout = Layout(LineWorld(**parts).spec, TINY.utterance_length, TINY.actions_per_step)
    actor = DatasetActor(
        reader=LaneReader(make_snapshot(tmp_path, recorded, MARKS[:2]), 2, 3, world=LineWorld(**parts)),
        layout=layout,
        vocabulary=WORDS,
        config=CONFIG,
        rng=np.random.default_rng(0),
        augmentation=AugmentationConfig(probability=1.0),
    )
    for _ in range(4):
        arrays = actor.unroll().arrays
        assert set(layout.observations(0, 0)) <= set(arrays)
        assert ("heard" in arrays, "movement" in arrays, "image" in arrays) == (
            "utterances" not in parts,
            "movement" not in parts,
            "image" not in parts,
        )


def test_contrast_needs_more_than_one_lane() -> None:
    with pytest.raises(ValueError, match=r"lanes must be at least 2.*got 1"):
        DatasetConfig(lanes=1)


def test_some_words_are_read_as_unknown_throughout_an_episode(snapshot: Snapshot) -> None:
    plain, dropping = (actor_of(snapshot, replace(CONFIG, unknown_chance=chance), seed=1) for chance in (0.0, 0.4))
    lost = kept = 0
    for _ in range(12):
        expected, found = plain.unroll().arrays, dropping.unroll().arrays
        for key in ("heard", "said"):
            changed = found[key] != expected[key]
            assert (found[key][changed] == UNKNOWN).all() and (expected[key][changed] >= len(SPECIAL)).all()
            lost, kept = lost + int(changed.sum()), kept + int((found[key] >= len(SPECIAL)).sum())
        rest = set(found) - {"heard", "said"}
        assert_same_arrays({key: found[key] for key in rest}, {key: expected[key] for key in rest})
    assert 0.2 < lost / (lost + kept) < 0.6


def test_the_same_words_are_unknown_in_all_windows_of_a_pass(snapshot: Snapshot) -> None:
    decoded = decode_for_role(episodes()[0], "solver", world=LineWorld())
    writer = RowWriter(LAYOUT, WORDS, unknown_chance=0.5, seed=2)
    whole = [writer.encode_episode(decoded, passage)["heard"][:, 0] for passage in range(20)]
    parts = allocate_demonstration(LAYOUT, decoded.rows - 1, 1)
    for start, stop in ((0, 3), (3, decoded.rows)):
        writer.write(parts, 0, start, EpisodeWindow(decoded, start, stop, position=4))
    np.testing.assert_array_equal(parts["heard"][:, 0], whole[4])
    assert len({heard.tobytes() for heard in whole}) > 1
