"""Scores of recordings by a reward model: entropy and disagreement, and the order of marking that follows from them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from fake_world import LineWorld, record_episode
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.episodes.store import EpisodeStore
from interplay.stages.score_files import round_to_score
from interplay.stages.score_stage import disagreement, later_is_better, uncertainty, write_scores
from interplay.stages.studio_config import StudioConfig
from interplay.studio.marks.novelty import distances
from interplay.studio.studies.study import FIRST_STUDY
from interplay.studio.web.studio_context import ServedRun, StudioContext


def test_a_flat_utility_is_the_most_uncertain() -> None:
    flat, rising = np.zeros(6, np.float32), np.arange(6, dtype=np.float32) * 3
    assert uncertainty(flat, 2) == pytest.approx(math.log(2))
    probability = 1 / (1 + math.exp(-6.0))
    entropy = -(probability * math.log(probability) + (1 - probability) * math.log(1 - probability))
    assert uncertainty(rising, 2) == pytest.approx(entropy)
    assert later_is_better(rising, 99).shape == (1,), "a short recording compares its ends"
    assert uncertainty(flat[:1], 2) == 0, "one row has no order to be unsure of"


def test_models_disagree_where_they_order_moments_differently() -> None:
    rising = np.arange(6, dtype=np.float32) * 30
    assert disagreement([rising, rising], 1) == disagreement([rising], 1) == 0
    assert disagreement([rising, -rising], 1) == pytest.approx(0.25)


def test_novelty_is_the_distance_to_the_nearest_marked_recording() -> None:
    memory = np.array([[0, 5], [1, 5], [5, 5], [9, 5]], np.float32)
    spread = memory[:, 0].std()
    known = np.array([True, False, False, True])
    np.testing.assert_allclose(distances(memory, known), np.array([0, 1, 4, 0]) / spread / np.sqrt(2), rtol=1e-6)
    unmarked = distances(memory, np.zeros(4, bool))
    assert unmarked.argmax() == 3, "before the first mark, what is least like the mean of all"


def test_an_episode_that_was_deleted_while_it_was_scored_gets_no_score(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "store", create=True) as store:
        for seed in range(2):
            store.append(record_episode(LineWorld(), seed, 6)[0])
        kept, gone = store.ids()
        scores = {"uncertain": {kept: 0.5, gone: 0.25}, "disagree": {kept: 0.0, gone: 0.0}}
        memories = {kept: np.ones(3, np.float32), gone: np.zeros(3, np.float32)}
        store.delete(gone)
        path = write_scores(tmp_path / "studio", store, {"checkpoint": "1"}, scores, memories)
        assert json.loads(path.read_text()) == {"checkpoint": "1", "uncertain": {kept: 0.5}, "disagree": {kept: 0.0}}
        with np.load(path.with_name("memories.npz")) as file:
            assert file["ids"].tolist() == [kept] and file["memory"].tolist() == [[1.0, 1.0, 1.0]]
        store.delete(kept)
        write_scores(tmp_path / "studio", store, {"checkpoint": "1"}, scores, memories)
        assert not path.with_name("memories.npz").exists()


def test_a_damaged_recording_is_passed_over(rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = tiny(copied(rewarded, tmp_path))
    with opened(given).store() as store:
        damaged, *others = store.ids()
    (file,) = tmp_path.glob(f"run/store/episodes/*/{damaged}.npz")
    file.write_bytes(file.read_bytes()[:200])
    interplay("score", given)
    assert damaged in caplog.text and "skipped" in caplog.text
    written = json.loads((tmp_path / "run/studio/scores.json").read_text())
    assert [*written["uncertain"]] == others


def test_scores_are_kept_where_the_recordings_are_missing(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tiny(copied(rewarded, tmp_path))
    interplay("score", given)
    scores = (tmp_path / "run/studio/scores.json").read_bytes()
    (tmp_path / "run/store").rename(tmp_path / "elsewhere")
    assert "run has no recordings to score; type: interplay collect" in refused("score", given, capsys)
    assert (tmp_path / "run/studio/scores.json").read_bytes() == scores


def test_raters_get_what_the_reward_model_is_least_sure_of(
    cloned: Path, rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no reward model to score by" in refused("score", tiny(copied(cloned, tmp_path / "without")), capsys)
    given = tiny(copied(rewarded, tmp_path))
    interplay("score", given)
    run = opened(given)
    written = json.loads((run.root / "studio" / "scores.json").read_text())
    assert round_to_score(run.root) is None
    studio = StudioContext(ServedRun(run.root, run.config.env, 30.0, 1, StudioConfig()))
    try:
        for order in ("uncertain", "disagree"):
            assert set(written[order]) == set(studio.store.ids())
            study = FIRST_STUDY.model_copy(update={"order": order, "random_share": 0.0})
            choice = studio.choice.next("p-aaaaaa", study)
            assert choice is not None and (choice.rule, choice.probability) == (order, 1.0)
            assert choice.score == max(written[order].values()) == written[order][choice.episode]
        study = FIRST_STUDY.model_copy(update={"order": "novel", "random_share": 0.0, "raters": 9})
        assert set(studio.choice.scores("novel").values()) == {0.0}, "a rater has marked all of them"
        for rater in {rater for raters in studio.store.raters().values() for rater in raters}:
            studio.store.erase_marks(rater)
        chosen, marked = [], set[str]()
        assert set(studio.choice.scores("novel")) == set(studio.store.ids())
        for _ in range(2):
            choice = studio.choice.next("p-aaaaaa", study)
            assert choice is not None and choice.rule == "novel" and choice.episode not in marked
            studio.store.add_ratings([(choice.episode, "p-bbbbbb")])
            chosen.append(choice)
            marked.add(choice.episode)
        first, second = chosen
        assert first.score and second.score and first.episode != second.episode
        assert studio.choice.scores("novel")[first.episode] == 0, "what was marked is no longer novel"
    finally:
        studio.close()
