"""An agent and a reward model of different vocabularies: translated by text, or refused."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.observation import Arrays
from interplay.agent.unroll import allocate_rollout
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import read_description
from interplay.reward.reward_functions import LaneState
from interplay.runtime.messages import UnrollMessage
from interplay.stages.reward_source import build_reward_function, reward_source
from interplay.stages.rollout_parts import _scoring_replica
from interplay.stages.shared_parts import checkpoint_of, start_from


def vocabulary_at(folder: Path) -> Vocabulary:
    return read_description(checkpoint.read(folder).description)[2]


def with_vocabulary(run: Path, to: Path, words: Vocabulary) -> str:
    """A copy of the run's clone whose tokens stand for other words; returns the path of its checkpoints."""
    folder = copied(run.parent, to) / "run" / "clone" / "checkpoints"
    file = checkpoint.read(folder).path / "checkpoint.json"
    fields = json.loads(file.read_text())
    fields["vocabulary"] = words.to_json()
    file.write_text(json.dumps(fields))
    return str(folder)


def unroll(run: Path, start: str, length: int | None = None) -> Arrays:
    """What the agent of `start` reads while a setter and itself say some words that all vocabularies contain."""
    opened_run = opened([*tiny(run.parent), f"reinforce.start={start}"])
    agent, words = start_from(opened_run, start)
    arrays = allocate_rollout(agent.layout, 8, 2)
    arrays["first"][0] = True
    common = vocabulary_at(run / "reward" / "checkpoints").words
    arrays["heard"][1:] = words.encode(" ".join(common[:3]), agent.layout.utterance_length)
    arrays["said"][3:] = words.encode(common[4], agent.layout.utterance_length)
    return arrays


def test_the_reward_model_reads_the_same_words_of_an_agent_with_another_vocabulary(
    rewarded: Path, tmp_path: Path
) -> None:
    run, own = rewarded / "run", vocabulary_at(rewarded / "run" / "clone" / "checkpoints")
    other = with_vocabulary(run, tmp_path, Vocabulary([*reversed(own.words)]))
    expected = reward_source(opened([*tiny(rewarded), "reinforce.start=clone"])).function()
    expected_scores = expected.score(unroll(run, "clone"), LaneState())
    settings = [*tiny(rewarded), f"reinforce.start={other}"]
    source = reward_source(opened(settings))
    theirs = unroll(run, other)
    assert not np.array_equal(theirs["heard"], unroll(run, "clone")["heard"])
    scores = source.function().score(theirs, LaneState())
    np.testing.assert_array_equal(scores.utility, expected_scores.utility)
    model = pickle.loads(pickle.dumps(source.model))  # as it is sent to replicas under Ray
    replica = _scoring_replica(opened(settings), None, model)
    message = UnrollMessage(number=0, arrays=theirs, state=None, version=0, episodes=[], after=b"")
    np.testing.assert_array_equal(replica.score(message, LaneState()).utility, expected_scores.utility)
    paid = build_reward_function(opened(settings), model, InferenceDevice())
    assert source.model is not None
    paid.load_version(source.model.weights, 9)  # as when newer reward models are followed
    assert paid.version == 9
    np.testing.assert_array_equal(paid.score(theirs, LaneState()).utility, expected_scores.utility)


def test_reinforcement_of_an_agent_with_more_words_runs_and_names_what_is_lost(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(rewarded, tmp_path / "run-of-reward-model")
    own = vocabulary_at(root / "run" / "clone" / "checkpoints")
    other = with_vocabulary(rewarded / "run", tmp_path / "other", own)
    reward = checkpoint_of(opened(tiny(root)), "reward").path / "checkpoint.json"
    fields, rare = json.loads(reward.read_text()), own.words[-1]
    fields["vocabulary"] = Vocabulary([*own.words[-2::-1], "zebra"]).to_json()
    reward.write_text(json.dumps(fields))
    interplay("reinforce", [*tiny(root), f"reinforce.start={other}"])
    assert all(np.isfinite(row["reward_mean"]) for row in rows(root / "run" / "reinforce" / "metrics.jsonl"))
    lacks = rf"the vocabulary of the reward model of .* lacks 1 of .*: {rare}; they are read as <unknown>"
    assert re.search(lacks, caplog.text)


@pytest.mark.parametrize(("verb", "setting"), [("reinforce", "reinforce.start"), ("reward", "reward.start")])
def test_an_agent_that_lacks_most_of_the_words_is_refused(
    rewarded: Path, tmp_path: Path, verb: str, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path / "run-of-reward-model")
    own = vocabulary_at(root / "run" / "clone" / "checkpoints")
    strangers = Vocabulary([f"zebra-{number}" for number in range(len(own.words))])
    other = with_vocabulary(rewarded / "run", tmp_path / "other", strangers)
    (root / "run" / verb / "stage.json").unlink(missing_ok=True)
    said = refused(verb, [*tiny(root, "run.seed=2"), f"{setting}={other}"], capsys)
    assert re.search(r"the agent of .* lacks (\d+) of \1 words, 100.0% of those spoken", said)
    assert "At most 20% may be unknown" in said


def test_a_reward_model_with_another_number_of_actions_is_refused(rewarded: Path, tmp_path: Path) -> None:
    other = with_vocabulary(rewarded / "run", tmp_path, vocabulary_at(rewarded / "run" / "clone" / "checkpoints"))
    file = checkpoint.read(Path(other)).path / "checkpoint.json"
    fields = json.loads(file.read_text())
    fields["agent"]["actions_per_step"] = 2
    file.write_text(json.dumps(fields))
    with pytest.raises(checkpoint.CheckpointError, match=r"takes 2 actions a step, and the reward model of .* reads 1"):
        reward_source(opened([*tiny(rewarded), f"reinforce.start={other}"]))


def test_an_agent_of_characters_hears_and_speaks_letters(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    shutil.rmtree(root / "run" / "clone")
    settings = tiny(root, "agent.tokens=characters", "agent.utterance_length=40", "agent.vocabulary.limit=30")
    for verb in ("clone", "collect-agent"):
        interplay(verb, settings)
    agent, letters = start_from(opened(settings), "clone")
    assert letters.kind == "characters" and 10 < len(letters.words) <= 30
    assert agent.layout.utterance_length == 40
    with opened(settings).store() as store:
        asked = [task["instruction"] for each in store.ids() for _, task in store.read(each).meta.tasks]
    known = [text for text in asked if set(text) <= set(letters.words)]
    assert len(known) >= 4
    assert all(letters.decode(letters.encode(text, 40)) == text for text in known)


@pytest.mark.parametrize("verb", ["evaluate", "continue"])
def test_an_agent_from_elsewhere_without_the_words_is_not_evaluated(
    rewarded: Path, tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path / "here")
    words = vocabulary_at(root / "run" / "clone" / "checkpoints").words
    other = with_vocabulary(rewarded / "run", tmp_path / "other", Vocabulary([f"x{word}" for word in words]))
    interplay("reinforce", tiny(root, "reinforce.training.updates=1"))
    said = refused(verb, tiny(root, f"evaluate.agents.other={other}"), capsys)
    assert re.search(rf"the agent of {re.escape(str(tmp_path))}.* lacks \d+ of \d+ words", said)
    assert not list((root / "run" / verb).glob("*.json*")) or not (root / "run" / verb / "bc.json").exists()
