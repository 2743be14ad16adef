"""The report: gathers the results of all stages and writes report.html and summary.json."""

from __future__ import annotations

import json
import logging
import os
import platform as machine
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from interplay.core.files import check_replaceable
from interplay.env.world import WorldSpec
from interplay.episodes.decoded_episode import OtherWorld
from interplay.episodes.encoding import DamagedEpisode, UnknownEpisode, UnknownFormat
from interplay.episodes.snapshot import Snapshot
from interplay.evaluation import findings
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.evaluation.filmstrip import make_filmstrip
from interplay.evaluation.free_play import free_play_shares
from interplay.evaluation.listening import answer_shares, count_answers, listening, pair_outcomes
from interplay.evaluation.live_judgements import EVALUATION, JudgedRequest, LiveResults, judged_requests
from interplay.evaluation.metric_curves import read_curves, tasks_by_kind
from interplay.evaluation.probes import (
    ProbeResult,
    mean_measures,
    on_same_probes,
)
from interplay.evaluation.report import REPORT, SUMMARY, write_report
from interplay.evaluation.report_data import (
    LEARNED,
    Filmstrip,
    MetricCurve,
    PairedOutcomes,
    ProbeResults,
    ReportData,
    ScenarioResults,
    StageRecord,
    StageThroughput,
)
from interplay.evaluation.scenario_findings import on_same_scenarios, shares_by_kind, steps_by_scenario
from interplay.stages import evaluate_stage
from interplay.stages.continue_stage import CONTINUE, read_continuations
from interplay.stages.episode_snapshot import TRAIN, training_marks
from interplay.stages.free_play_stage import comparable_free_play, free_play_kinds
from interplay.stages.judged_continuations import judged_of
from interplay.stages.measured_agents import measured_agents, outdated_results
from interplay.stages.probe_files import OTHER_WORDS, chance_of, read_films, read_results
from interplay.stages.returns_ledger import RETURNS, changes_of_reward_model, reward_points
from interplay.stages.reward_evaluation import Examination, ModelOnHeldOut, examine, heldout_of
from interplay.stages.round_results import probe_results, round_records, rounds_on_probes
from interplay.stages.rounds import check_begun
from interplay.stages.run import Run, closes_worlds
from interplay.stages.stage_folder import StageFolder

logger = logging.getLogger(__name__)

T = TypeVar("T")

RECORDED_STAGES = (
    "collect",
    "clone",
    "clone-setter",
    "collect-agent",
    "mark",
    "reward",
    "reinforce",
    "evaluate",
    CONTINUE,
)
COUNT_FIELDS = ("scenarios", "episodes", "heldout_episodes", "updates", "steps", "marks", "vocabulary", "replayed")
AGENT_LABELS = {
    "bc": "BC",
    "bc_long": "longer BC",  # trained for as many updates as BC+RL; every comparison is with it, where it exists
    evaluate_stage.BEFORE_RL: "before RL",
    "bc_rl": "BC+RL",
    "expert": "scripted solver",
}
# What gives the return, by `reinforce.reward`; a class of your own by its own name.
REWARD_SOURCES = {
    "ibt": LEARNED,
    "ar": LEARNED,
    "scripted": "true progress",
    "success": "true success",
    "world": "the world",
}
REWARD = "reward"  # the stage that learns from marks
TRAINED = ("reinforce", REWARD, "clone")  # whose seed a report states, the last one first
PACKAGES = ("torch", "numpy", "mujoco-core", "numba", "hydra-core", "wandb")
SHOWN_METRICS = {
    "clone": ("loss", "movement_cloning", "token_cloning", "gate_accuracy", "heldout_listening"),
    "reward": (
        "ibt",
        "ibt_accuracy",
        "marks",
        "marks_sign_accuracy",
        "heldout_mark_auc",
        "heldout_mark_sign_accuracy",
        "heldout_pair_accuracy",
        "heldout_listening",
        "css_accuracy",
    ),
    "reinforce": ("return", "success", "value", "rho", "effective_share", "gate_kl", "heldout_listening"),
}


@closes_worlds
def report(run: Run) -> Path:
    """Writes the report of the stages that have run so far, and returns its path.

    Raises:
        StageConflict: no stage of a later round has run yet.
        OSError: see `check_report_files`.
    """
    check_begun(run.root, run.round, run.command)
    check_report_files(run)
    spec = run.make_world().spec
    found, unmeasured = _heldout(run)
    examined = examine(run, found) if found is not None else None
    labels = _labels(run)
    played = on_same_probes({name: read_results(run.stage(evaluate_stage.STAGE), name) for name in labels})
    continued = on_same_scenarios({name: read_continuations(run.stage(CONTINUE), name) for name in labels})
    free_play = comparable_free_play(run, labels)
    records = {name: run.stage(name).record() for name in RECORDED_STAGES}
    returns = run.stage("reinforce").path / RETURNS
    material = ReportData(
        title=f"Interplay: {run.config.run.name}" + (f", round {run.round}" if run.round > 1 else ""),
        shows_pictures=spec.image is not None,
        says_tasks=spec.says_tasks,
        stages=[_stage(run, name, record) for name, record in records.items() if record],
        seeds=_seeds(run, records),
        settings={name: json.dumps(found, indent=1) for name, found in _settings(run, records).items()},
        versions={name: version(name) for name in ("interplay", *PACKAGES)} | {"python": machine.python_version()},
        machine={"cores": str(os.cpu_count()), "system": machine.platform(), "processor": _processor()},
        filmstrips=_filmstrips(run, spec),
        traces=examined.traces if examined is not None else (),
        answer_rewards=examined.answers if examined is not None else {},
        reward_points=reward_points(returns),
        reward_source=_reward_source(run, records),
        kinds=tasks_by_kind(read_curves(run.stage("reinforce").path / "metrics.jsonl")),
        outdated=[*outdated_results(run, labels), *_mixed_returns(returns), *unmeasured],
        probes=_probes(run, spec, labels, played) if played else None,
        measures={labels[name]: means for name, results in played.items() if (means := mean_measures(results))},
        rounds=rounds_on_probes(run, spec),
        round_records=round_records(run, found),
        free_play={labels[name]: free_play_shares(episodes) for name, episodes in free_play.items()},
        free_play_kinds={labels.get(name, name): kinds for name, kinds in free_play_kinds(run, free_play).items()},
        reward_model=examined.results if examined is not None else None,
        throughput=[StageThroughput(name, rate) for name, rate in _rates(records).items()],
        scenarios=_scenarios(spec, labels, continued),
        judged=judged_of(run, labels, continued),
        live=_live(run, spec),
        curves={stage: _curves(run, stage) for stage in SHOWN_METRICS},
    )
    for sentence in material.outdated:
        logger.warning("%s", sentence)
    return write_report(run.folder, _summary(run, material, examined, records), material)


def check_report_files(run: Run) -> None:
    """Checks that the report can be written, before work that ends with it.

    Raises:
        OSError: see `check_replaceable`.
    """
    check_replaceable(run.folder / REPORT, run.folder / SUMMARY)


def _heldout(run: Run) -> tuple[ModelOnHeldOut | None, list[str]]:
    """The reward model and its held-out episodes, and a sentence instead of them if the world is another one now."""
    try:
        return heldout_of(run), []
    except OtherWorld as error:
        return None, [f"The reward model is not measured on held-out episodes: {error}"]


def _settings(run: Run, records: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The settings of the world, and those that each stage ran with, regardless of those typed for the report."""
    return {"env": dict(run.config.env)} | {name: record["settings"] for name, record in records.items() if record}


def _seeds(run: Run, records: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """The seeds that the stages ran with, regardless of what is typed; the typed ones if no stage has run."""
    recorded = {name: record["settings"] for name, record in records.items() if record}
    ordered = [*(name for name in TRAINED if name in recorded), *recorded]
    seed = next((recorded[name]["seed"] for name in ordered if "seed" in recorded[name]), run.seed)
    evaluated = recorded.get(evaluate_stage.STAGE, {}).get("evaluate", {})
    return {"run": seed, "evaluation": evaluated.get("seed", run.config.evaluate.seed)}


def _reward_source(run: Run, records: Mapping[str, Mapping[str, Any]]) -> str:
    """The source of the reward in reinforcement, regardless of what is typed for the report."""
    reinforced = records["reinforce"].get("settings", {}).get("reinforce", {})
    reward = reinforced.get("reward") or run.config.reinforce.reward
    return REWARD_SOURCES.get(reward, reward)


def _mixed_returns(returns: Path) -> list[str]:
    """A sentence for each reward model that took the place of another one while the agent was reinforced."""
    return [
        f"Another reward model rewarded the reinforcement from update {before + 1} on, so the returns from update "
        f"{after} on can't be compared with those before"
        for before, after in changes_of_reward_model(returns)
    ]


def _summary(
    run: Run,
    material: ReportData,
    examined: Examination | None,
    records: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    shares = findings.shares(material.probes) if material.probes is not None else {}
    figures = findings.reward_model_figures(examined.results) if examined and examined.results else None
    return {
        "run": run.config.run.name,
        "seeds": material.seeds,
        "settings": _settings(run, records),
        "versions": material.versions,
        "machine": material.machine,
        "outdated": list(material.outdated),
        "probes": _by_name(shares),
        "listening": _by_name(listening(material.probes)) if material.probes else {},
        "answers": _by_name(answer_shares(material.probes)) if material.probes else {},
        "measures": _by_key(material.measures),
        "free_play": _by_key(material.free_play),
        "free_play_kinds": _by_key(material.free_play_kinds),
        "scenarios": _by_name(shares_by_kind(material.scenarios)) if material.scenarios else {},
        "judged_scenarios": material.judged.to_json() if material.judged else {},
        "live": material.live.to_json() if material.live else {},
        "chance": {task: asdict(level) for task, level in material.probes.chance.items()} if material.probes else {},
        "reward": {
            "pair_accuracy_heldout": figures.pair_accuracy.value,
            "pair_accuracy_interval": [figures.pair_accuracy.low, figures.pair_accuracy.high],
            "auc_return_success": figures.auc.value,
            "auc_interval": [figures.auc.low, figures.auc.high],
            "swapped_instruction_loss": asdict(figures.swap_loss) if figures.swap_loss else None,
            "correct_answer_above": {
                kind: asdict(margin) for kind, margin in findings.answer_margins(material.answer_rewards).items()
            },
        }
        if figures is not None
        else None,
        "marks": marks_by_rater(run),
        "throughput": _rates(records),
        "seconds": {name: record["seconds"] for name, record in records.items() if record},
    }


def _labels(run: Run) -> dict[str, str]:
    """The printed names of all agents that have been measured; those without a label are printed as typed."""
    return AGENT_LABELS | {name: name for name in measured_agents(run) if name not in AGENT_LABELS}


def _by_name(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Results by task and printed agent as JSON values by task and agent's name."""
    return {task: {agent: asdict(each) for agent, each in _by_key(found).items()} for task, found in results.items()}


def _by_key(results: Mapping[str, T]) -> dict[str, T]:
    """Results by printed agent as results by agent's name."""
    names = {printed: key for key, printed in AGENT_LABELS.items()}
    return {names.get(agent, agent): each for agent, each in results.items()}


def _stage(run: Run, name: str, record: Mapping[str, Any]) -> StageRecord:
    numbers: dict[str, float | int | str] = {key: record[key] for key in COUNT_FIELDS if key in record}
    snapshot = run.snapshot_path(name)
    if snapshot.exists():
        learned_from = Snapshot(snapshot).composition(TRAIN)
        numbers["from"] = ", ".join(f"{count:,} {kind}" for kind, count in learned_from.items())
    if name == REWARD and snapshot.exists():
        numbers["marks by"] = ", ".join(f"{rater}: {count:,}" for rater, count in marks_by_rater(run).items())
    return StageRecord(name, record["seconds"], numbers, finished=record["finished"])


def marks_by_rater(run: Run) -> dict[str, int]:
    """The marks that the reward model learned from, by rater: scripted raters by name, people by pseudonym."""
    snapshot = run.snapshot_path(REWARD)
    marks = training_marks(Snapshot(snapshot)) if snapshot.exists() else []
    return dict(sorted(Counter(mark.rater for mark in marks).items()))


def _rates(records: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Agent steps per second of each stage that counts its steps."""
    return {
        name: record["steps"] / record["seconds"]
        for name, record in records.items()
        if record.get("steps") and record["seconds"]
    }


def _probes(
    run: Run, spec: WorldSpec, labels: Mapping[str, str], found: Mapping[str, Sequence[ProbeResult]]
) -> ProbeResults:
    """The results of the agents that played the same probes; `found` is a result of `on_same_probes`."""
    folder = run.stage(evaluate_stage.STAGE)
    return replace(
        probe_results(run, spec, {labels[name]: results for name, results in found.items()}),
        chance=chance_of(folder, next(iter(found.values()))),
        baseline=_baseline(found),
        pairs={labels[name]: pairs for name, results in found.items() if (pairs := _pairs(folder, name, results))},
        answers={labels[name]: count_answers(results) for name, results in found.items()},
    )


def _baseline(found: Collection[str]) -> str:
    """The label of the agent that BC+RL is compared with, of those that have results."""
    return AGENT_LABELS["bc_long" if "bc_long" in found else "bc"]


def _live(run: Run, spec: WorldSpec) -> LiveResults | None:
    """The verdicts of live evaluations, by the stage or path of the agent."""
    requests: list[JudgedRequest] = []
    if not (run.root / "store").exists():
        return None
    with run.store() as store:
        for identifier in store.ids(split=EVALUATION):
            try:
                meta = store.meta(identifier)
            except (DamagedEpisode, UnknownFormat, UnknownEpisode) as error:
                logger.warning("left out of the live evaluations: %s", error)
                continue
            player = meta.players[spec.solver]
            agent = _agent_name(run.root, player.get("checkpoint", player["kind"]))
            requests += judged_requests(meta, agent, spec.frames_per_second)
    return LiveResults.of(requests)


def _agent_name(root: Path, checkpoint: str) -> str:
    """The stage of a checkpoint of this run, as "clone" or "round-2/reinforce"; of others their path."""
    path = Path(checkpoint)
    folder = path.parents[1] if path.parent.name == "checkpoints" else path
    return str(folder.relative_to(root.resolve())) if folder.is_relative_to(root.resolve()) else checkpoint


def _scenarios(
    spec: WorldSpec, labels: Mapping[str, str], found: Mapping[str, Sequence[ContinuationResult]]
) -> ScenarioResults | None:
    """The continuations of the agents; `found` is a result of `on_same_scenarios`."""
    if not found:
        return None
    every = [row for rows in found.values() for row in rows]
    return ScenarioResults(
        {labels[name]: steps_by_scenario(rows) for name, rows in found.items()},
        kinds={row.scenario: row.kind for row in every},
        instructions={row.scenario: row.instruction for row in every},
        steps=max(row.limit for row in every),
        seconds_per_step=spec.seconds_per_step,
        hold=max(row.hold for row in every),
        baseline=_baseline(found),
    )


def _pairs(folder: StageFolder, name: str, results: Sequence[ProbeResult]) -> dict[str, PairedOutcomes]:
    return pair_outcomes(results, read_results(folder, name, OTHER_WORDS))


def _filmstrips(run: Run, spec: WorldSpec) -> list[Filmstrip]:
    """One solved and one failed probe of each agent; instructions to act come before questions."""
    folder, strips = run.stage(evaluate_stage.STAGE), []
    for name in ("bc_rl", "bc"):
        films = read_films(folder, name)
        for solved in (True, False):
            fitting = [f for f in films if f.result is not None and f.result.solved == solved]
            fitting.sort(key=lambda film: (film.result is not None and bool(film.result.said), -len(film.pictures)))
            if fitting:
                title = f"{AGENT_LABELS[name]}, {fitting[0].probe.kind}"
                strips.append(make_filmstrip(fitting[0], title=title, seconds_per_step=spec.seconds_per_step))
    return strips


def _curves(run: Run, stage: str) -> dict[str, MetricCurve]:
    found = read_curves(run.stage(stage).path / "metrics.jsonl")
    return {name: found[name] for name in SHOWN_METRICS[stage] if name in found}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else machine.processor()
