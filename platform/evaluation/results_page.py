"""The results page of `interplay orderings`: each finding of the paper and what the seeds show."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.counted import counted
from interplay.core.files import write_whole
from interplay.core.settings_validation import build_config
from interplay.evaluation.estimates import student_mean
from interplay.evaluation.figures import SvgFigure, standalone
from interplay.evaluation.results_figures import BC_RL, results_figures
from interplay.evaluation.seed_results import HOUSES_AND_WORDS, SeedResults

logger = logging.getLogger(__name__)

PAGE, NUMBERS = "results.md", "results.json"
BC, BC_LONG, BC_LARGE, AR = "bc", "bc_long", "bc_large", "ar"
MIN_SEEDS = 3  # with fewer, the page shows means and makes no claim: the intervals of two seeds are nearly unbounded


Parts = Mapping[str, float]  # of a finding in one seed, by name; each is above 0 in a seed that shows the finding


@dataclass(frozen=True)
class Finding:
    """A finding of the paper; `measure` returns its parts in a seed, None where the seed has no such data. It gets the
    name of the clone that the page compares with, the same one in every seed."""

    claim: str
    quantity: str  # what `measure` returns
    measure: Callable[[SeedResults, str], Parts | None]


def verdict(seeds: Sequence[Parts]) -> str:
    """The verdict on a finding, from its parts in each seed.

    Parts that fewer than `MIN_SEEDS` seeds have are left out. The finding holds if the interval over seeds of the
    lowest part is above 0, because the mean of the lowest part is at most that of any. The lowest part lies below 0 by
    chance alone, too, so the finding does not hold only if the interval of one and the same part is below 0. Of several
    intervals one lies below 0 by chance more often than a single one does, so these are wider (see `student_mean`).
    """
    if not seeds:
        return "not tested"
    parts = _by_part(seeds)
    most = max(map(len, parts.values()))
    if most < MIN_SEEDS:
        return f"not tested: {counted(most, 'seed')}, {MIN_SEEDS} are needed"
    lowest = [min(each[name] for name in parts if name in each) for each in seeds if parts.keys() & each.keys()]
    if student_mean(lowest).low > 0:
        return "holds"
    below = any(student_mean(values, among=len(parts)).high < 0 for values in parts.values())
    return "does not hold" if below else "unclear"


def _by_part(seeds: Sequence[Parts]) -> dict[str, list[float]]:
    """The values of each part, in the seeds that have it: of parts with `MIN_SEEDS` values, or of all if none has."""
    names = dict.fromkeys(name for parts in seeds for name in parts)
    values = {name: [parts[name] for parts in seeds if name in parts] for name in names}
    return {name: each for name, each in values.items() if len(each) >= MIN_SEEDS} or values


def _baseline(seeds: Sequence[SeedResults]) -> str:
    """The longer BC, where any seed has it; seeds without it, as added ones may be, then count in no comparison with a
    clone."""
    return BC_LONG if any(BC_LONG in seed.success for seed in seeds) else BC


def _differences(shares: Mapping[str, Mapping[str, float]], agent: str, other: str) -> Parts | None:
    """The differences of two agents by kind; None unless both have played."""
    if agent not in shares or other not in shares:
        return None
    return {kind: shares[agent][kind] - shares[other][kind] for kind in shares[agent]}


def _mean_difference(shares: Mapping[str, Mapping[str, float]], agent: str, other: str) -> Parts | None:
    """The mean of the differences over the kinds, as the only part; None without any kind."""
    found = _differences(shares, agent, other)
    return {"mean": _mean([*found.values()])} if found else None


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _return_rises(seed: SeedResults, baseline: str) -> Parts | None:
    points = seed.heldout_returns
    return {"rise": points[-1][1] - points[0][1]} if len(points) > 1 else None


def _doubles_position(seed: SeedResults, baseline: str) -> Parts | None:
    ours, theirs = (seed.success.get(agent, {}).get("position") for agent in (BC_RL, baseline))
    return None if ours is None or theirs is None else {"position": ours - 2 * theirs}


def _ibt_ar_bc(seed: SeedResults, baseline: str) -> Parts | None:
    upper = _mean_difference(seed.success, BC_RL, AR)
    lower = _mean_difference(seed.success, AR, baseline)
    return None if upper is None or lower is None else {"IBT": upper["mean"], "AR": lower["mean"]}


def _scripted_probes(seed: SeedResults, baseline: str) -> Parts | None:
    """Kinds with a scripted reward stand for the paper's probes, the others for its free instructions.

    Of both, those that were played as probes count; None unless there are some.
    """
    for agent, scripted in seed.scripted_kinds.items():
        ours, mixed, clone = (seed.success.get(name) for name in (agent, BC_RL, baseline))
        if ours is None or mixed is None or clone is None:
            continue
        paid, free = set(ours) & set(scripted), set(ours) - set(scripted)
        if paid and free:
            gain = _mean([ours[kind] - clone[kind] for kind in sorted(paid)])
            return {"scripted": gain, "free": _mean([mixed[kind] - ours[kind] for kind in sorted(free)])}
    return None


def _answers_in_order(seed: SeedResults, baseline: str) -> Parts | None:
    rewards = list(seed.answers.values())
    if len(rewards) != 3:
        return None
    right, wrong, strange = rewards
    return {"correct": right, "plausible": right - wrong, "incoherent": wrong - strange}


def _each_round(seed: SeedResults, baseline: str) -> Parts | None:
    means = {name: _mean(list(shares.values())) for name, shares in seed.rounds.items()}
    return {later: means[later] - means[earlier] for earlier, later in pairwise(means)} or None


FINDINGS = (
    Finding("The modeled return rises through reinforcement on held-out episodes", "its rise", _return_rises),
    Finding(
        "Reinforcement about doubles success on Position",
        "BC+RL minus twice the longer BC",
        _doubles_position,
    ),
    Finding(
        "Reinforcement beats cloning on every probe",
        "difference of BC+RL and the longer BC on the probe where it is least",
        lambda seed, baseline: _differences(seed.success, BC_RL, baseline),
    ),
    Finding(
        "A 71M BC+RL agent beats a 165M BC agent; bigger is better",
        "BC+RL minus the longer BC of 2.2 times the weights, mean over probes",
        lambda seed, baseline: _mean_difference(seed.success, BC_RL, BC_LARGE),
    ),
    Finding(
        "IBT beats AR, and AR beats BC", "the smaller of the two differences of mean success", _ibt_ar_bc
    ),
    Finding(
        "Reinforcement on scripted probe rewards does well on probes, and badly on free instructions",
        "the smaller of: it minus the longer BC on the kinds with a scripted reward, BC+RL minus it on the others",
        _scripted_probes,
    ),
    Finding(
        "Reinforcement succeeds sooner",
        "BC+RL minus the longer BC within half of the time limit, mean over probes",
        lambda seed, baseline: _mean_difference(seed.early, BC_RL, baseline),
    ),
    Finding(
        "Each round improves on the one before",
        "the least step from the clone to round 1 and from round to round, mean over probes",
        _each_round,
    ),
    Finding(
        "A correct answer earns a reward, a plausible wrong one less, an incoherent one least",
        "the smallest of the correct one's reward and the two steps",
        _answers_in_order,
    ),
)  # fmt: skip


def write_results_page(folder: Path, seeds: Sequence[SeedResults]) -> Path:
    """Writes `results.md`, its figures and `results.json` into a folder, and returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = results_figures(seeds)
    for name, figure in figures.items():
        write_whole(folder / _file(name), standalone(figure.svg))
    document = json.dumps([asdict(seed) for seed in seeds], indent=1)
    write_whole(folder / NUMBERS, document + "\n")
    write_whole(folder / PAGE, render_results(seeds, figures))
    return folder / PAGE


def read_seeds(path: Path) -> list[SeedResults]:
    """The seeds of a `results.json` that `write_results_page` has written.

    Raises:
        ValueError: the file does not exist, or is of another kind.
    """
    try:
        return [build_config(SeedResults, row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} is not a results.json of interplay orderings ({error}); name files that this command wrote, as "
            "orderings.add=[elsewhere/runs/orderings/results.json]"
        ) from error


def added_seeds(
    paths: Sequence[Path],
    own: Sequence[int],
    budget: Mapping[str, int],
    probes: Mapping[str, int],
    settings: Mapping[str, Any],
) -> list[SeedResults]:
    """The seeds of other files, which can be shown with those that this command trains with `budget` and tests on as
    many `probes` of each kind, drawn and played with `settings` (see `probe_settings`).

    Files of older versions do not state these settings; a warning names them.

    Raises:
        ValueError: a file can't be read, or has a seed that is there already, was trained with another budget, or has
            played other probes.
    """
    seeds: dict[int, SeedResults] = {}
    for path in paths:
        found = read_seeds(path)
        for seed in found:
            if seed.seed in (*own, *seeds):
                raise ValueError(
                    f"{path} has seed {seed.seed}, which is there already; leave it out of orderings.seeds"
                )
            if seed.budget != budget:
                raise ValueError(
                    f"{path} has other budgets than this command ({_budget(seed.budget)}; here {_budget(budget)}), so "
                    "its seeds can't be added; give the settings that it was made with"
                )
            if seed.probes != probes:
                raise ValueError(
                    f"{path} has other probes than this command ({_probes(seed.probes)}; here {_probes(probes)}), so "
                    "its seeds can't be added; give the settings that it was made with"
                )
            if seed.probe_settings and (differing := _differing(seed.probe_settings, settings)):
                raise ValueError(
                    f"{path} has other probes than this command: {differing}. All seeds of a page play the same "
                    "probes; give the settings that it was made with, or leave the file out of orderings.add"
                )
            seeds[seed.seed] = seed
        if not all(seed.probe_settings for seed in found):
            logger.warning(
                "%s does not state how its probes were drawn, as those of older versions: add it only if evaluate.seed "
                "was %s there, too",
                path,
                settings["evaluate.seed"],
            )
    return list(seeds.values())


def _differing(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """The settings of probes that differ, with both values; "" if none does. Other houses and words follow from another
    seed, and are named where the seed is the same."""
    apart = [name for name in ours if theirs.get(name) != ours[name]]
    shown = [f"{name}={theirs.get(name)} (here {ours[name]})" for name in apart if name != HOUSES_AND_WORDS]
    if HOUSES_AND_WORDS in apart and "evaluate.seed" not in apart:
        digests = theirs.get(HOUSES_AND_WORDS, {})
        kinds = ", ".join(kind for kind, digest in ours[HOUSES_AND_WORDS].items() if digests.get(kind) != digest)
        shown.append(f"other {HOUSES_AND_WORDS} of {kinds}, by other settings or another version of the world")
    return "; ".join(shown)


def render_results(seeds: Sequence[SeedResults], figures: Mapping[str, SvgFigure]) -> str:
    """The page as Markdown; `figures` by their names, as files in its folder."""
    numbers = ", ".join(str(seed.seed) for seed in seeds)
    probes = _probes(seeds[0].probes)
    has_rounds = any(seed.rounds for seed in seeds)
    parts = [
        "# Results\n",
        "Scripted setters, solvers and raters stand in for people in all of these runs. "
        f"Seeds of training: {numbers}. Probes of a seed: {probes}, the same for every agent. Values are means over "
        f"seeds, from {MIN_SEEDS} seeds on with 95% intervals (Student's t) unless all seeds have the same value. Each "
        "verdict is of its row alone: a finding without any effect holds by chance in 1 of 40 cases.\n",
        f"Budget of a seed: {_budget(seeds[0].budget)}.\n",
        "## The paper's findings\n",
        _table(("finding (arXiv 2211.11602)", "measured here", "value", "verdict"), [_row(f, seeds) for f in FINDINGS]),
        "## Success by agent\n",
        _shares(seeds, lambda seed: seed.success, chance=True),
        "## Listening: success under own words minus success under other words\n",
        _shares(seeds, lambda seed: seed.listening, chance=False, within=(-1.0, 1.0)),
        "## Reward models on held-out episodes\n",
        _reward_models(seeds),
        *(["## Success by round\n", _shares(seeds, lambda seed: seed.rounds, chance=False)] if has_rounds else []),
        "## Figures\n",
        *(f"![Figure: {name}]({_file(name)})\n\n{figure.caption}\n" for name, figure in figures.items()),
    ]
    return "\n".join(parts)


def _file(figure: str) -> str:
    return f"results_{figure}.svg"


def _budget(budget: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in budget.items())


def _probes(probes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in probes.items())


def _row(finding: Finding, seeds: Sequence[SeedResults]) -> tuple[str, ...]:
    """The row of a finding; of its parts, that with the lowest mean over seeds is shown."""
    baseline = _baseline(seeds)
    measured = [parts for seed in seeds if (parts := finding.measure(seed, baseline)) is not None]
    lowest = min(_by_part(measured).values(), key=np.mean, default=[])
    quantity = finding.quantity
    if baseline == BC:  # `baselines` does not name the longer one
        quantity = quantity.replace("the longer BC", "BC")
    return finding.claim, quantity, _text(lowest, "{:+z.2f}"), verdict(measured)


def _shares(
    seeds: Sequence[SeedResults],
    chosen: Callable[[SeedResults], Mapping[str, Mapping[str, float]]],
    chance: bool,
    within: tuple[float, float] = (0.0, 1.0),
) -> str:
    """A table of agents by kinds of probe; `within`: the lowest and the highest possible value."""
    agents = dict.fromkeys(agent for seed in seeds for agent in chosen(seed))
    kinds = dict.fromkeys(kind for seed in seeds for kind in seed.probes)
    rows = []
    if chance:
        rows.append(("chance", *(_text([s.chance[k] for s in seeds if k in s.chance]) for k in kinds), ""))
    for agent in agents:
        found = [chosen(seed)[agent] for seed in seeds if agent in chosen(seed)]
        means = [_mean([shares[kind] for kind in kinds]) for shares in found if set(kinds) <= set(shares)]
        columns = [*([shares[kind] for shares in found if kind in shares] for kind in kinds), means]
        rows.append((agent, *(_text(values, within=within) for values in columns)))
    return _table(("agent", *kinds, "mean"), rows)


REWARD_MEASURES = {
    "heldout_pair_accuracy": "pairs ordered as marked",
    "heldout_mark_auc": "AUC of predicted marks",
    "heldout_utility_listening": "return lost to another instruction",
}


def _reward_models(seeds: Sequence[SeedResults]) -> str:
    """A table of the agents that were reinforced on a reward model, and what was measured of it last."""
    found = {
        agent: {
            name: [seed.reward_models[agent][name] for seed in seeds if name in seed.reward_models.get(agent, {})]
            for name in REWARD_MEASURES
        }
        for agent in dict.fromkeys(agent for seed in seeds for agent in seed.reward_models)
    }
    rows = [(agent, *(_text(values) for values in measured.values())) for agent, measured in found.items()]
    return _table(("reward model of", *REWARD_MEASURES.values()), rows)


def _text(values: Sequence[float], shown: str = "{:z.2f}", within: tuple[float, float] = (-math.inf, math.inf)) -> str:
    """The mean over seeds, from `MIN_SEEDS` of them on with its interval; see `student_mean`."""
    if not values:
        return "–"
    found = student_mean(values, within=within)
    has_interval = found.n >= MIN_SEEDS and not math.isnan(found.low)
    return shown.format(found.value) + (
        f" ({shown.format(found.low)} to {shown.format(found.high)})" if has_interval else ""
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"
