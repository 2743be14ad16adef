"""What people said of the continuations of a run, next to what the tests of the tasks say."""

from __future__ import annotations

from collections.abc import Mapping

from interplay.evaluation.continuation_judgements import (
    JudgedContinuations,
    judged_continuations,
    player_digest,
    read_judgements,
)
from interplay.stages.continue_stage import CONTINUE, read_continuations
from interplay.stages.run import Run
from interplay.stages.stage_folder import read_json


def judged_of(run: Run, labels: Mapping[str, str]) -> JudgedContinuations | None:
    """The verdicts of people on the present continuations of the labeled agents; None without any.

    Args:
        labels: by agent, its name in the report.
    """
    folder = run.stage(CONTINUE)
    place = str(folder.path.relative_to(run.root))
    judgements = [each for each in read_judgements(run.root) if each.folder == place]
    players, tested = {}, {}
    for agent in {each.agent for each in judgements}:
        if results := read_continuations(folder, agent):
            players[agent] = player_digest(read_json(folder.path / f"{agent}.json")["agent"])
            tested[agent] = {(each.scenario, each.continuation): each.success_step is not None for each in results}
    return judged_continuations(judgements, players, tested, labels)
