"""interplay import: tasks and re-enacted episodes of a corpus in a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from env.voxel.corpus_files import iglu_copy, mdc_copy
from tiny_runs import interplay, opened, tiny

from interplay.actors.reenactment import Reenactment
from interplay.env import registry
from interplay.env.voxel.corpora.sessions import BuildSession, Changed, Spoken
from interplay.env.voxel.space import empty_grid
from interplay.env.voxel.tasksets import CorpusTasks
from interplay.env.voxel.world import Voxel
from interplay.episodes.encoding import iter_readable
from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.players.rater import RaterConfig, ScriptedRater
from interplay.stages.import_stage import import_corpus
from interplay.stages.mark_stage import watch
from interplay.stages.run import Run, open_run
from interplay.stages.stage_folder import read_json


def imported(folder: Path, corpus: str, path: Path, *settings: str) -> Run:
    return open_run(
        compose(
            [
                f"run.dir={folder}",
                "env=voxel",
                "env.control=fly",
                "env.image=[8,8]",
                f"corpus.name={corpus}",
                f"corpus.path={path}",
                *settings,
            ]
        )
    )


def counts(run: Run, corpus: str) -> Mapping[str, int]:
    """The numbers of the summary that the import wrote."""
    rows = read_json(run.root / "corpus" / f"{corpus}_counts.json")["counts"]
    return {row["what"]: row["here"] for row in rows}


def test_sessions_are_played_again_to_the_recorded_end(tmp_path: Path) -> None:
    run = imported(tmp_path, "mdc", mdc_copy(tmp_path / "mdc"))
    told = import_corpus(run)
    here = counts(run, "mdc")
    assert here["episodes written"] == 1
    assert here["blocks outside the zone"] == 1
    assert here["sessions"] == 1
    assert "546 fewer" in told
    assert "numbers DIFFER from the whole corpus" in told
    with run.store() as store:
        (episode,) = iter_readable(store, store.ids())
    meta = episode.meta
    assert meta.split == "heldout"
    assert meta.players["solver"] == {"kind": "human", "movement": "re-enacted", "source": "mdc/B1-A2-C8-10"}
    assert [(said.role, said.text) for said in meta.utterances] == [
        ("setter", "a red block"),
        ("solver", "this?"),
        ("setter", "and a blue one on it"),
    ]
    assert [task["kind"] for _, task in meta.tasks] == ["build", "build"]
    assert episode.poses is not None
    grid = episode.poses[-1][-9 * 11 * 11 :].reshape(9, 11, 11)
    assert [(int(at[0]), int(grid[tuple(at)])) for at in np.argwhere(grid)] == [(0, 6), (1, 1)]
    assert len(CorpusTasks(run.root / "corpus")) == 2
    import_corpus(run)
    assert counts(run, "mdc")["episodes written"] == 0, "an episode is not written twice"


def test_an_import_brings_nothing_back_that_was_left_out_or_deleted(tmp_path: Path) -> None:
    run = imported(tmp_path, "iglu", iglu_copy(tmp_path / "iglu"))
    import_corpus(run)
    with run.store() as store:
        first, second, *_ = store.ids()
        store.flag(first, "unfit")
        store.delete(second)
        left = store.ids()
    import_corpus(run)
    with run.store() as store:
        assert store.ids() == left


def test_an_import_brings_nothing_back_that_was_purged_or_that_is_damaged(tmp_path: Path) -> None:
    run = imported(tmp_path, "iglu", iglu_copy(tmp_path / "iglu"))
    import_corpus(run)
    with run.store() as store:
        first, second, *_ = store.ids()
        store.delete(first)
        assert store.purge() == [first]
        (store.root / store.path(second)).write_bytes(b"damaged")
        left = store.ids()
    import_corpus(run)
    with run.store() as store:
        assert store.ids() == left


def test_each_session_has_a_seed_of_its_own_that_is_the_same_in_every_import(tmp_path: Path) -> None:
    seeds = []
    for name in ("first", "second"):
        run = imported(tmp_path / name, "iglu", iglu_copy(tmp_path / name / "iglu"))
        import_corpus(run)
        with run.store() as store:
            metas = [store.meta(episode) for episode in store.ids()]
        seeds.append({meta.players["solver"]["source"]: meta.seed for meta in metas})
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0].values())) == len(seeds[0]) > 1


def test_tasks_alone_can_be_imported(tmp_path: Path) -> None:
    run = imported(tmp_path, "iglu", iglu_copy(tmp_path / "iglu"), "corpus.episodes=0", "agent.utterance_length=8")
    import_corpus(run)
    assert counts(run, "iglu")["episodes written"] == 0
    assert counts(run, "iglu")["single turns without a target"] == 1
    assert len(CorpusTasks(run.root / "corpus" / "iglu.npz")) == 2
    assert counts(run, "iglu")["runs of changes without a task"] == 1, "everything is removed in one of three"


def test_an_instruction_without_room_for_its_end_is_too_long(tmp_path: Path) -> None:
    source, too_long = iglu_copy(tmp_path / "iglu"), "instructions too long for the agent"
    first = imported(tmp_path / "first", "iglu", source, "corpus.episodes=0")
    import_corpus(first)
    instructions = np.load(first.root / "corpus" / "iglu.npz")["instruction"].tolist()
    words = max(len(instruction.split()) for instruction in instructions)
    for length, number in ((words, 1), (words + 1, 0)):
        run = imported(tmp_path / f"{length}", "iglu", source, "corpus.episodes=0", f"agent.utterance_length={length}")
        import_corpus(run)
        assert counts(run, "iglu")[too_long] == number


def test_what_leaves_the_grid_empty_is_a_task_of_an_episode(tmp_path: Path) -> None:
    """There is no target to match, but the recorded builder was asked for something and did it."""
    run = imported(tmp_path, "iglu", iglu_copy(tmp_path / "iglu"))
    import_corpus(run)
    with run.store() as store:
        episodes = {each.meta.players["solver"]["source"]: each for each in iter_readable(store, store.ids())}
    ((_, task),) = episodes["iglu/CQ-game-2"].meta.tasks
    assert (task["instruction"], task["params"]) == ("Remove it now", {"blocks": [], "clear": [[0, 5, 5]]})
    sources = {name.rpartition("/")[0] for name, _ in CorpusTasks(run.root / "corpus")}
    assert sources == {"iglu/CQ-game-1", "iglu/9-c118"}


def test_changes_that_lead_back_are_not_a_task_and_those_stored_as_one_can_be_rated() -> None:
    world = registry.make("voxel", control="fly", image=(8, 8))
    assert isinstance(world, Voxel)
    red, gone, blue = Changed((0, 5, 5), 6), Changed((0, 5, 5), 0), Changed((0, 4, 5), 1)
    events = [Spoken("Architect", "a red block"), red, gone, Spoken("Architect", "no, a blue one"), blue]
    episode = Reenactment(world, {}).play(BuildSession("s", "C8", "train", empty_grid(), events))
    ((asked, task),) = episode.meta.tasks
    assert task["instruction"] == "no, a blue one"
    nothing = {"kind": "build", "instruction": "a red block", "asked": [], "params": {"blocks": [], "clear": []}}
    stored = replace(episode, meta=replace(episode.meta, tasks=((0, nothing), (asked, task)), endings=((asked, "-"),)))
    rater = ScriptedRater(RaterConfig(delay_steps=(0, 0), misses=0.0, errors=0.0), np.random.default_rng(0))
    assert [mark.sign for mark in watch(world, stored, "p", rater)][:2] == [-1, 1], "the block comes and goes"


@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "copy"), [("mdc", mdc_copy), ("iglu", iglu_copy)])
def test_an_agent_is_cloned_from_imported_sessions(tmp_path: Path, corpus: str, copy: Callable[[Path], Path]) -> None:
    """From the command line: import, clone, evaluate, report."""
    source = copy(tmp_path / corpus)
    splits = source / "data" / "logs" / "splits.json"
    if splits.exists():  # its one session is to be trained on
        splits.write_text('{"train": ["C8"]}')
    world = ("env=voxel", "env.control=fly", "env.image=[16,24]")
    assert main(["import", corpus, str(source), *tiny(tmp_path, house=world)]) == 0
    interplay("clone", tiny(tmp_path, house=world))
    interplay("evaluate", tiny(tmp_path, "evaluate.kinds=[row]", house=world))
    interplay("report", tiny(tmp_path, "evaluate.kinds=[row]", house=world))
    cloned = opened(tiny(tmp_path, house=world)).stage("clone").record()
    assert cloned["episodes"] >= 1
    assert cloned["vocabulary"] > 5
    page = (tmp_path / "run" / "report.html").read_text()
    assert "What the tasks measure" in page
    measured = json.loads((tmp_path / "run" / "summary.json").read_text())["measures"]["bc"]["row"]
    assert set(measured) == {"f1", "precision", "recall", "reward", "complete"}


def test_another_world_is_refused(tmp_path: Path) -> None:
    folder = mdc_copy(tmp_path / "mdc")
    with pytest.raises(ValueError, match="type env=voxel"):
        import_corpus(imported(tmp_path, "mdc", folder, "env=room", "~env.control"))
    with pytest.raises(ValueError, match=r"type env\.control=fly"):  # before the corpus is read, so before its faults
        import_corpus(imported(tmp_path, "mdc", tmp_path / "nowhere", "env.control=discrete"))
    with pytest.raises(ValueError, match="name the corpus"):
        import_corpus(imported(tmp_path, "''", folder))


@pytest.mark.parametrize("corpus", ["mdc", "iglu"])
def test_a_folder_that_does_not_exist_is_named(corpus: str, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    with pytest.raises(ValueError, match=f"^there is no folder {missing};.* interplay import {corpus} FOLDER$"):
        import_corpus(imported(tmp_path, corpus, missing))
