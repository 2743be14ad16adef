"""People's verdicts on the continuations of a run, next to the results of the tasks' own tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interplay.evaluation.continuation_judgements import (
    JudgedContinuations,
    judged_continuations,
    read_judgements,
    recording_digest,
)
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.stages.continue_stage import CONTINUE, recording_of
from interplay.stages.run import Run


def judged_of(
    run: Run, labels: Mapping[str, str], continued: Mapping[str, Sequence[ContinuationResult]]
) -> JudgedContinuations | None:
    """The verdicts of people on the present continuations of the labeled agents; None without any.

    Args:
        labels: by agent, its name in the report.
        continued: results by agent, as `on_same_scenarios` returns them. Verdicts on others count as outdated.
    """
    folder = run.stage(CONTINUE)
    place = str(folder.path.relative_to(run.root))
    judgements = [each for each in read_judgements(run.root) if each.folder == place]
    recordings, tested = {}, {}
    for agent in {each.agent for each in judgements} & continued.keys():
        files = {each: recording_of(folder, agent, each) for each in continued[agent]}
        present = {each: file for each, file in files.items() if file.exists()}
        keys = {each: (each.scenario, each.continuation) for each in present}
        recordings[agent] = {keys[each]: recording_digest(file) for each, file in present.items()}
        tested[agent] = {keys[each]: each.solved for each in present}
    return judged_continuations(judgements, recordings, tested, labels)
