"""`interplay orderings` and baselines: seeds, shared stages, one evaluation of all agents, and the page."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.episodes.snapshot import Snapshot
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.evaluation.results_page import read_seeds
from interplay.launch import paper_orderings
from interplay.launch.cli import main
from interplay.launch.complete_round import refuse_missing_agents
from interplay.launch.compose import compose
from interplay.launch.train_baselines import train_baselines
from interplay.learner import checkpoint
from interplay.runtime.interruption import INTERRUPTED, StopRequest
from interplay.stages.baselines import BASELINES, baseline_config
from interplay.stages.evaluate_stage import stages_of
from interplay.stages.orderings_results import seed_results
from interplay.stages.report_stage import report
from interplay.stages.run import Run
from interplay.stages.stage_folder import StageConflict, setting_differences, write_json

# Enough episodes that the agents of the cells know the words of the probes.
PROBES = ("evaluate.kinds=[go]", "evaluate.chance_draws=1", "collect.setter.kinds={go: 1}", "collect.episodes=16")
PAID = ("reinforce.reward=success", "reinforce.actor.achieved=true")
BASELINES_RUN = ("orderings.seeds=[7]", "baselines=[bc_long,bc_large,cloning_only,scripted]")
SCRIPTED = "variants.scripted={reinforce: {reward: success, actor: {achieved: true, kinds: [go]}}}"


WEIGHTS = "reinforce.learner.objective.weights"
LARGER = ("channels", "width", "lstm", "policy_hidden", "value_hidden", "decoder_width", "contrast_hidden")
CHANGED = {
    "bc_long": {"clone.training.updates"},
    "bc_large": {"clone.training.updates", *(f"agent.{name}" for name in LARGER)},
    "cloning_only": {f"{WEIGHTS}.{name}" for name in ("movement_policy", "language_policy", "value", "gate_kl")},
    "from_reward_model": {"reinforce.start"},
    "true_progress": {"reinforce.reward", "reinforce.actor.progress"},
    "success": {"reinforce.reward", "reinforce.actor.achieved"},
    "shuffled_marks": {"reward.shuffle_marks"},
    "ar": {"reward.model", "reward.dataset.windows", "reinforce.reward"},
}


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_differs_from_the_run_in_what_it_compares(name: str) -> None:
    config = compose(["experiment=orderings", "baselines=[]"])
    changed = setting_differences(asdict(config), asdict(BASELINES[name].change(config)))
    assert {each.partition(":")[0].partition(" ")[0] for each in changed} == CHANGED[name]


@pytest.mark.parametrize(("reward", "updates"), [("ibt", 100 + 20 + 3 * 2), ("world", 100 + 3 * 2)])
def test_the_longer_clone_gets_the_updates_of_the_stages_that_run(reward: str, updates: int) -> None:
    counts = ("clone.training.updates=100", "reward.training.updates=20", "reinforce.training.updates=3")
    config = compose([*counts, "reinforce.updates_per_batch=2", f"reinforce.reward={reward}"])
    assert BASELINES["bc_long"].change(config).clone.training.updates == updates


@pytest.mark.slow
def test_the_baselines_share_the_stages_of_their_seed_and_play_its_probes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(
        tmp_path, *PROBES, *BASELINES_RUN, SCRIPTED, "reward.training.updates=2", "reinforce.updates_per_batch=2"
    )
    interplay("orderings", settings)
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert [seed["seed"] for seed in found] == [7]
    assert 0 <= found[0]["reward_models"]["bc_rl"]["heldout_pair_accuracy"] <= 1
    assert list(found[0]["success"]) == ["bc", "bc_rl", "bc_long", "bc_large", "cloning_only", "scripted", "bc_marks"]
    assert found[0]["scripted_kinds"] == {"scripted": ["go"]}
    run = opened([*settings, "run.name=run-seed-7", "run.seed=7"])
    paid = replace(run.config, reinforce=replace(run.config.reinforce, reward="world"))
    assert found[0]["heldout_returns"] and not seed_results(replace(run, config=paid)).heldout_returns
    page = (tmp_path / "run" / "results.md").read_text()
    assert "not tested: 1 seed" in page and "| cloning_only |" in page

    base = tmp_path / "run-seed-7"
    long, large, cloning = (base / "baselines" / name for name in ("bc_long", "bc_large", "cloning_only"))
    (episode, *_) = (base / "store" / "episodes").glob("*/*.npz")
    copied = cloning / episode.relative_to(base)
    assert copied.samefile(episode), "the store is linked, so that what is forgotten there is forgotten here"
    for longer in (long, large):
        assert json.loads((longer / "clone" / "stage.json").read_text())["updates"] == 4 + 2 + 2 * 4
        assert not (longer / "reward").exists()
    size, larger = (num_weights(folder / "clone") for folder in (base, large))
    assert 1.8 < larger / size < 2.5
    assert (cloning / "reward" / "stage.json").read_bytes() == (base / "reward" / "stage.json").read_bytes()
    learned = [json.loads(row) for row in (cloning / "reinforce" / "metrics.jsonl").read_text().splitlines()]
    assert all("movement_cloning" in row for row in learned)
    weights = json.loads((cloning / "config.json").read_text())["reinforce"]["learner"]["objective"]["weights"]
    assert weights["movement_policy"] == weights["value"] == 0.0 and weights["movement_cloning"] > 0.0

    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("checkpoints/*/*")}
    interplay("orderings", settings)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("checkpoints/*/*")} == before, (
        "nothing is trained twice"
    )
    said = refused("orderings", [*settings, "reward.training.updates=3"], capsys)
    assert f"{cloning} (reward.updates: 2 -> 3), " in said and "remove their folders" in said
    assert str(long) not in said, "it has copied no reward model"
    assert {file: file.stat().st_mtime_ns for file in before if "/cloning_only/" in str(file)}.items() <= before.items()


@pytest.mark.slow
def test_rounds_of_a_seed_play_the_same_probes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path, *PROBES, "orderings.seeds=[7]", "orderings.rounds=2")
    interplay("orderings", settings)
    seed = read_seeds(tmp_path / "run" / "results.json")[0]
    assert list(seed.rounds) == ["clone", "round 1", "round 2"]
    assert all(0 <= shares["go"] <= 1 for shares in seed.rounds.values())
    assert "## Success by round" in (tmp_path / "run" / "results.md").read_text()
    second = tmp_path / "run-seed-7" / "round-2"
    trained = (second / "reinforce" / "metrics.jsonl").stat().st_mtime_ns
    interplay("orderings", settings)
    assert (second / "reinforce" / "metrics.jsonl").stat().st_mtime_ns == trained, "what is done is not done again"
    further = [*settings, "orderings.seeds=[8]", f"orderings.add=[{tmp_path / 'run' / 'results.json'}]"]
    assert [each.seed for each in paper_orderings._added(compose(further))] == [7]
    said = refused("orderings", [*further, "evaluate.seed=3"], capsys)
    assert "results.json has other probes than this command: evaluate.seed=20261121 (here 3)" in said
    assert not (tmp_path / "run-seed-8").exists()


def test_a_stop_while_the_report_of_a_seed_is_written_begins_no_other_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = []

    def complete(run: Run) -> None:
        begun.append(run.config.run.seed)
        with StopRequest():
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(paper_orderings, "complete_round", complete)
    assert main(["orderings", *tiny(tmp_path, "orderings.seeds=[7,8]")]) == INTERRUPTED
    assert begun == [7] and f"{tmp_path}/run-seed-7 is done, and the same command continues" in capsys.readouterr().err


VARIANTS = (
    "baselines=[fewer,careful,slow]",
    "variants.fewer.reward.marked_share=0.9",  # of few episodes: their ids are random, and a half was none at times
    "variants.careful.mark={raters: [careful], rater: {errors: 0}}",
    "variants.slow.reinforce.learner.learning_rate=1e-5",
    "reward.raters=[rater-1]",
)


@pytest.mark.slow
def test_variants_train_what_they_change_beside_the_snapshots_of_their_run(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    run = opened(tiny(root, *VARIANTS))
    before = {path: path.read_bytes() for path in run.snapshot_path("reward").parent.iterdir()}
    train_baselines(run)
    assert {path: path.read_bytes() for path in before} == before, "the run's own snapshots stay as they are"

    fewer, careful, slow = (run.root / "baselines" / name for name in ("fewer", "careful", "slow"))
    ran = {
        folder.name: [each for each in ("mark", "reward", "reinforce") if records_differ(folder, run.root, each)]
        for folder in (fewer, careful, slow)
    }
    assert ran == {
        "fewer": ["reward", "reinforce"],
        "careful": ["mark", "reward", "reinforce"],
        "slow": ["reinforce"],
    }
    changed = opened(tiny(root, *VARIANTS)).config
    assert baseline_config(changed, "slow").reinforce.learner.learning_rate == 1e-5
    marks = {
        name: Snapshot(run.snapshot_path("reward").with_name(f"{name}-reward.db")).marks()
        for name in ("fewer", "careful")
    }
    assert {mark.rater for mark in marks["careful"]} == {"careful"}
    assert {mark.rater for mark in marks["fewer"]} == {"rater-1"}
    assert stages_of(run).keys() >= {"fewer", "careful", "slow"}


def records_differ(folder: Path, base: Path, stage: str) -> bool:
    """Whether a baseline ran a stage itself; a copied one has its run's record."""
    mine, theirs = folder / stage / "stage.json", base / stage / "stage.json"
    return not theirs.exists() or mine.read_bytes() != theirs.read_bytes()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("baselines=[halfed]", "variants.halved.reward.marked_share=0.5"), "names 'halfed'. Did you mean 'halved'?"),
        (("variants.ar.reward.marked_share=0.5",), "variants.ar has a name that agents, baselines or rounds have"),
        (("variants.chance.reward.marked_share=0.5",), "variants.chance has a name that agents"),
        (("++variants={round-2: {reward: {marked_share: 0.5}}}",), "variants.round-2 has a name that agents"),
        (("++variants={../x: {reward: {marked_share: 0.5}}}",), "letters, digits, - and _, got '../x'"),
        (
            ("variants.kind={mark: {raters: [kind]}, reward: {raters: [other]}}", "reward.raters=[rater-1]"),
            "variants.kind.reward.raters: a variant with raters of its own",
        ),
        (("variants.wide.agent.width=32",), "variants.wide.agent: a variant shares recordings and clone"),
        (
            ("variants.wide.agent.width=32", "baselines=[wide]", "reinforce.reward=world"),
            "variants.wide.agent: a variant shares recordings and clone",
        ),
        (("variants.flat.reinforce=3", "baselines=[flat]", "reinforce.reward=world"), "variants.flat: give settings"),
        (("variants.wrong.reward.updates=3",), "variants.wrong: reward.updates"),
        (("variants.few.reward.marked_share=0",), "marked_share must be above 0"),
        (("variants.kind.mark.rater.errors=0", "reward.raters=[rater-1]"), "add variants.kind.mark.raters=[kind]"),
        (("variants.kind.mark={raters: [kind]}",), "add reward.raters=[rater-1]"),
    ],
)
def test_variants_that_can_not_be_trained_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: tuple[str, ...], expected: str
) -> None:
    assert expected in refused("demo", tiny(tmp_path, *settings), capsys, 2)
    assert not (tmp_path / "run").exists()


def num_weights(stage: Path) -> int:
    newest = checkpoint.latest(stage / "checkpoints")
    assert newest is not None
    return sum(each.numel() for each in newest.weights().values())


def test_a_baseline_that_does_not_exist_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("orderings", tiny(tmp_path, "baselines=[bc_longer]"), capsys, 2)
    assert "'bc_longer'" in said and "'bc_long'" in said
    assert not list(tmp_path.glob("run*/store"))


def test_baselines_of_a_reward_model_are_refused_where_none_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = ("variants.learned.reinforce.reward=ibt", "variants.from_it.reinforce.start=reward")
    named = "baselines=[bc_long,ar,learned,from_it]"
    said = refused("demo", tiny(tmp_path, named, *variants, *PAID), capsys, 2)
    assert "baselines=['ar', 'learned', 'from_it'] need a reward model" in said and "reinforce.reward=ibt" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("reinforce.start=reward", *PAID), "runs before reinforce trains one, and reinforce.reward=success leaves it"),
        (("evaluate.agents.mine=reward", *PAID), "evaluate.agents.mine=reward: "),
        (
            ("collect_agent.solver_agent=reward",),
            "no stage of the round that runs before collect-agent trains one. Set",
        ),
        (("reinforce.actor.learned_setters=0.5",), "first type: interplay clone-setter run.name=run"),
        (
            ("baselines=[mine]", "variants.mine.reinforce={actor: {learned_setters: 0.5}, setter_agent: reinforce}"),
            "reinforce.setter_agent=reinforce: ",
        ),
    ],
)
def test_a_stage_whose_first_agent_will_be_missing_is_refused_before_the_first(
    typed: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused("round", ["1", *tiny(tmp_path, *typed)], capsys)
    assert not (tmp_path / "run").exists()


def test_an_agent_that_the_run_has_already_is_not_missing(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    (root / "run/clone").rename(root / "run/clone-setter")
    named = ("collect_agent.setter_agent=clone-setter", "baselines=[success]", "reinforce.start=reward")
    run = opened(tiny(root, *named))
    refuse_missing_agents(run)
    shutil.rmtree(root / "run/clone-setter")
    with pytest.raises(ValueError, match=r"collect_agent\.setter_agent=clone-setter: "):
        refuse_missing_agents(run)


def test_an_agent_with_the_name_of_a_baseline_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("orderings", tiny(tmp_path, "evaluate.agents={ar: clone}"), capsys, 2)
    assert "names ar like a baseline" in said and "another name" in said
    said = refused("orderings", tiny(tmp_path, "evaluate.agents={bc_marks: clone}"), capsys)
    assert "names bc_marks" in said and "another name" in said
    assert not list(tmp_path.glob("run*"))


def test_a_copied_clone_counts_as_a_baseline_only_after_its_training(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    (root / "run" / "round-2").mkdir()
    run = opened(tiny(root, "baselines=[bc_long]", "clone.learner.learning_rate=0.1"))
    with pytest.raises(StageConflict, match="learning_rate"):
        train_baselines(run)
    copy = run.root / "baselines" / "bc_long"
    assert (copy / "clone" / "checkpoints").exists() and not (copy / "round-2").exists()
    assert "bc_long" not in stages_of(run)
    train_baselines(opened(tiny(root, "baselines=[bc_long]")))
    assert stages_of(run)["bc_long"] == "baselines/bc_long/clone"


def test_continuations_are_compared_with_the_clone_trained_as_long(tmp_path: Path) -> None:
    run = opened(tiny(tmp_path))
    (run.root / "continue").mkdir(parents=True)
    for agent, step in (("bc", 3), ("bc_long", None), ("bc_rl", 3)):
        result = ContinuationResult("one", 0, "go", "go to the ball", step, (), steps=8, limit=8, hold=0)
        write_json(run.root / "continue" / f"{agent}.json", {"results": [asdict(result)]})
    report(run)
    found = json.loads((run.root / "summary.json").read_text())["results"]["scenario_differences"]
    assert found["go"]["value"] == 1.0, "of BC+RL and the longer clone, not the clone"
