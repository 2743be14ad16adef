"""Erasure of the scenarios that were cut from deleted episodes, with what agents did in them."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines, write_whole
from interplay.evaluation.continuation_judgements import keep_judgements
from interplay.evaluation.scenario_suite import SUITE, remove_scenarios, scenarios_of

logger = logging.getLogger(__name__)

DAMAGE = (ValueError, KeyError, TypeError, OSError)  # ValueError: also a stage that is running


def erase_scenarios(root: Path, episodes: Collection[str]) -> list[str]:
    """Removes the scenarios that were cut from these episodes from the suites of a run, their continuations, and what
    people said of them.

    Suites outside of the run, which `continuation.suite` names, are not reached. Returns the suites that could not be
    changed: damaged ones, and those of a stage that is running.
    """
    suites, kept = sorted([*root.glob(f"*/{SUITE}"), *root.glob(f"round-*/*/{SUITE}")]), list[str]()
    if not (suites and episodes):
        return kept
    from interplay.stages.stage_folder import WORK_LOCK, StageFolder  # imports torch: not for every studio

    for suite in suites:
        try:
            with StageFolder(suite.parent).locked(WORK_LOCK):
                if names := scenarios_of(suite, episodes):
                    _erase_judgements(root, str(suite.parent.relative_to(root)), names)
                    _erase_continuations(suite.parent, names)
                    remove_scenarios(suite, names)  # last, so that a deletion that was killed can be repeated
        except DAMAGE as error:
            logger.warning("scenarios of deleted episodes stay in %s: %s", suite, error)
            kept.append(str(suite.relative_to(root)))
    return kept


def _erase_judgements(root: Path, folder: str, scenarios: Collection[str]) -> None:
    keep_judgements(root, lambda each: each.folder != folder or each.scenario not in scenarios)


def _erase_continuations(folder: Path, scenarios: Collection[str]) -> None:
    def stays(result: Mapping[str, Any]) -> bool:
        return result["scenario"] not in scenarios

    for results in folder.glob("*.json"):
        content = json.loads(results.read_text())
        if "results" in content:  # stage.json has none
            write_whole(
                results, json.dumps(content | {"results": [each for each in content["results"] if stays(each)]})
            )
    for unfinished in folder.glob("*.jsonl"):
        _rewrite_lines(unfinished, stays)
    for recordings in (folder.glob(f"*/{name}") for name in scenarios):
        for path in recordings:
            shutil.rmtree(path)


def _rewrite_lines(path: Path, stays: Callable[[Mapping[str, Any]], bool]) -> None:
    rows, _ = JsonLines(path, key="number").readable()
    kept = [row["result"] for row in rows if "result" in row and stays(row["result"])]
    heads = [row for row in rows if "result" not in row]
    lines = [*heads, *({"number": number, "result": result} for number, result in enumerate(kept, 1))]
    write_whole(path, "".join(json.dumps(line) + "\n" for line in lines))
