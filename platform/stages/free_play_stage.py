"""Free play in the evaluate stage: every agent of the run with a learned setter, and its results on disk.

`evaluate/free-play/<agent>.json` holds the checkpoints of both, the settings, and every episode with its requests.
"""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from interplay.actors.seats import SolverSeat
from interplay.core.files import write_whole
from interplay.core.settings_validation import build_config
from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.free_play import (
    FreePlayEpisode,
    FreePlayer,
    FreePlayRules,
    SetterRequest,
    request_kinds,
)
from interplay.evaluation.probes import agree, probe_limit
from interplay.evaluation.success_judge import holding_steps
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.seeding import derive_seed
from interplay.stages.run import Run
from interplay.stages.shared_parts import is_same_player, learned_setters, player_of, refuse_trained_on
from interplay.stages.stage_folder import StageFolder, damaged, read_json
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

FOLDER = "free-play"


def play_freely(
    run: Run, agent: str, checkpoint: Mapping[str, Any], seat: SolverSeat, worlds: Sequence[World], stop: StopRequest
) -> None:
    """Plays the episodes of one agent with the learned setter of `evaluate.setter_agent`, unless they have been played.

    Houses and draws depend on `evaluate.seed` alone, so that agents meet the same starts; what the setter then says
    depends on what it sees.

    Raises:
        ValueError: the world has no setter.
        CheckpointError: there is no such setter, or it is for another world.
        Interrupted: a stop was requested; the same command plays the agent's episodes again.
        StageConflict: another process trained the agent or the setter while they played.
    """
    config, folder = run.config.evaluate, run.stage("evaluate")
    if worlds[0].spec.roles[0] == worlds[0].spec.solver:
        raise ValueError(
            f"evaluate.setter_agent={config.setter_agent}: {worlds[0].spec.name} has no setter's seat; its only role "
            f"is {worlds[0].spec.solver!r}. Leave evaluate.setter_agent out"
        )
    rules = _rules(run, worlds[0])
    stated = {name: value for name, value in asdict(rules).items() if value != {}}  # older files have no `limits`
    described = {
        "agent": dict(checkpoint),
        "setter": player_of(run, config.setter_agent, "setter"),
        "rules": json.loads(json.dumps(stated)),
        "world_version": worlds[0].spec.version,
        "seeds": [derive_seed(config.seed, FOLDER, number) for number in range(config.setter_episodes)],
    }
    file = folder.path / FOLDER / f"{agent}.json"
    if file.exists() and _is_of(read_json(file), described):
        return
    setters = learned_setters(run, config.setter_agent, len(worlds), ("evaluate", FOLDER, agent))
    assert setters is not None, "evaluate.setter_agent names one"
    requests = _recorded_requests(run)
    recorded = {text: kind for (text, kind), _ in reversed(requests.most_common())}  # of two kinds the more frequent
    player = FreePlayer(worlds=worlds, seat=seat, setters=setters, rules=rules, recorded=recorded)
    episodes = _played(agent, player, described["seeds"], stop)
    refuse_trained_on(run, "evaluate", checkpoint, agent)
    refuse_trained_on(run, "evaluate", described["setter"], agent, "setter")
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {
        **described,
        "recorded_kinds": _shares_of_kinds(requests),
        "episodes": [asdict(each) for each in episodes],
    }
    write_whole(file, json.dumps(document), durable=False)


def _played(agent: str, player: FreePlayer, seeds: Sequence[int], stop: StopRequest) -> list[FreePlayEpisode]:
    """The episodes of an agent that begin with these seeds, in their order; raises Interrupted as `play_freely`."""
    episodes: list[FreePlayEpisode] = []
    with Progress(len(seeds), "episodes", {"requests": "requests"}, title=f"free play {agent}") as progress:
        for episode in player.play(seeds, lambda: stop.requested):
            episodes.append(episode)
            progress.log(len(episodes), {"requests": sum(len(each.requests) for each in episodes)})
    if stop.requested:
        raise Interrupted(f"stopped while {agent} played with a learned setter; the same command plays again")
    order = {seed: place for place, seed in enumerate(seeds)}
    return sorted(episodes, key=lambda each: order[each.seed])


def _recorded_requests(run: Run) -> Counter[tuple[str, str]]:
    """How often recorded setters asked for a task, by its words and kind: in the episodes that the setter was cloned
    from, or the solver where the setter is of another run."""
    counts: Counter[tuple[str, str]] = Counter()
    files = [run.snapshot_path(stage) for stage in ("clone-setter", "clone")]
    for file in [file for file in files if file.exists()][:1]:
        for meta in Snapshot(file).metas(EpisodeFilter(split="train")):
            for _, task in meta.tasks:
                counts[str(task["instruction"]), str(task.get("kind", ""))] += 1
    return counts


def _shares_of_kinds(requests: Counter[tuple[str, str]]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for (_, kind), count in requests.items():
        counts[kind] += count
    return {kind: count / counts.total() for kind, count in sorted(counts.items())}


def _is_of(kept: Mapping[str, Any], described: Mapping[str, Any]) -> bool:
    """Whether the kept episodes are of the described players, rules and seeds."""
    same = all(is_same_player(kept.get(player), described[player]) for player in ("agent", "setter"))
    same = same and agree(_version(kept), _version(described))
    return same and all(kept.get(key) == described[key] for key in ("rules", "seeds"))


def _version(kept: Mapping[str, Any]) -> int:
    """The version of the world in which kept episodes were played; 0 in files of older versions."""
    return int(kept.get("world_version", 0))


def read_free_play(folder: StageFolder, agent: str) -> list[FreePlayEpisode]:
    """The episodes of an agent with a learned setter; empty if it has played none.

    Raises:
        ValueError: the file is damaged.
    """
    file = folder.path / FOLDER / f"{agent}.json"
    if not file.exists():
        return []
    try:
        return [
            FreePlayEpisode(
                each["seed"],
                each["steps"],
                tuple(build_config(SetterRequest, request) for request in each["requests"]),
                each.get("utterances"),
            )
            for each in read_json(file)["episodes"]
        ]
    except (KeyError, TypeError) as error:
        raise damaged(file, f"no list of episodes: {error!r}") from error


def comparable_free_play(run: Run, agents: Iterable[str]) -> dict[str, list[FreePlayEpisode]]:
    """The episodes of the first agent that has played, and of those that met the same checkpoint of the setter in the
    same houses by the same rules; others are named in a warning. `agents` are names of files."""
    folder = run.stage("evaluate").path / FOLDER
    found = {name: episodes for name in agents if (episodes := read_free_play(run.stage("evaluate"), name))}
    kept = {name: read_json(folder / f"{name}.json") for name in found}
    first = next(iter(kept), "")
    for name, document in kept.items():
        same = all(document.get(key) == kept[first].get(key) for key in ("rules", "seeds"))
        same = same and agree(_version(document), _version(kept[first]))
        setters = document.get("setter", {}), kept[first].get("setter", {})
        if not same or not (is_same_player(*setters) or is_same_player(*setters[::-1])):
            logger.warning(
                "%s played freely with another setter than %s, or by other rules or in another version of the world, "
                "so the report does not compare it; measure it again with: %s",
                name,
                first,
                run.command("evaluate"),
            )
            del found[name]
    return found


def free_play_kinds(run: Run, played: Mapping[str, Sequence[FreePlayEpisode]]) -> dict[str, Mapping[str, Estimate]]:
    """The share of each kind among the requests that an agent met, by agent; under "recorded" among those that the
    setter was cloned from, without an interval, because all of them count. Empty without free play.

    `played` is a result of `comparable_free_play`.
    """
    folder, found = run.stage("evaluate"), dict[str, Mapping[str, Estimate]]()
    for name, episodes in played.items():
        recorded = read_json(folder.path / FOLDER / f"{name}.json").get("recorded_kinds", {})
        exact = {kind: Estimate(share, math.nan, math.nan, 0) for kind, share in recorded.items()}
        found |= ({"recorded": exact} if exact else {}) | {name: request_kinds(episodes)}
    return found


def _rules(run: Run, world: World) -> FreePlayRules:
    """The rules of a world that has been reset, with the limits and the holding time of its probes."""
    config, tasks = run.config.evaluate, world.tasks()
    kinds = tuple(run.config.collect.setter.kinds) or config.kinds or tuple(tasks.probes)
    hold = holding_steps(world.spec, config.hold_steps)
    limits = {kind: probe_limit(tasks, config, kind) for kind in kinds}
    differing = {kind: limit for kind, limit in limits.items() if limit != config.steps}
    return FreePlayRules(kinds, config.setter_steps, config.steps, hold, differing)
