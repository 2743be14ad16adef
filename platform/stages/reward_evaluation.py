"""Examines the run's reward model on held-out episodes: agreement with raters, with the truth, and with the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from interplay.actors.row_writer import RowWriter
from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.env.world import Start, World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import DecodedEpisode, check_same_world
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.transcript import DialogueTask, dialogue
from interplay.episodes.vocabulary import Vocabulary
from interplay.evaluation.filmstrip import evenly_spaced_rows
from interplay.evaluation.report_data import RewardModelResults, UtilityTrace
from interplay.learner.agents import load_agent
from interplay.reward.diagnostics import utilities
from interplay.runtime.seeding import numpy_generator
from interplay.stages.heldout_episodes import HeldOutEpisodes, Measured, read_heldout
from interplay.stages.run import Run

CORRECT, PLAUSIBLE, INCOHERENT = "correct", "plausible but wrong", "incoherent"
TRACE_PICTURES = 6  # shown with a utility trace


@dataclass(frozen=True)
class Examination:
    """The report's measurements of the reward model."""

    results: RewardModelResults | None  # see `model_results`
    traces: Sequence[UtilityTrace]
    answers: Mapping[str, Sequence[float]]  # kind of answer -> rewards


@dataclass(frozen=True)
class ModelOnHeldOut:
    """A run's reward model, and the held-out episodes to measure it on."""

    model: Agent
    vocabulary: Vocabulary
    snapshot: Snapshot
    world: World
    heldout: HeldOutEpisodes  # at least one


def heldout_of(run: Run) -> ModelOnHeldOut | None:
    """The model of `runs/<name>/reward` and its held-out episodes; None without a trained model or any episode.

    Raises:
        OtherWorld: an episode was recorded in another version of the world, in which its true success is unknown.
    """
    folder = run.stage("reward")
    file = run.snapshot_path("reward")
    if not folder.has_agent or not file.exists():
        return None
    snapshot = Snapshot(file)
    model, vocabulary = load_agent(folder.checkpoints)
    world = run.make_world()
    ids = snapshot.select(EpisodeFilter(split="heldout"))
    cache = run.config.reward.dataset.cache_mb * 2**20
    heldout = read_heldout(snapshot, ids, world, model, vocabulary, cache_bytes=cache)
    for meta in heldout.episodes:
        check_same_world(world, meta)
    return ModelOnHeldOut(model, vocabulary, snapshot, world, heldout) if len(heldout) else None


def examine(run: Run, found: ModelOnHeldOut) -> Examination:
    """The examination of a run's reward model."""
    model, world, heldout = found.model, found.world, found.heldout
    results, answers = model_results(heldout.measure(model), heldout), answer_rewards(run, found)
    if results is not None and world.spec.utterances:
        others = heldout.other_instructions(same_kind=False)
        swapped = heldout.measure(model, heard=others).returns
        told = np.isin(np.arange(len(heldout)), [*others])  # the others keep their own instruction
        results = replace(results, swapped_returns=np.where(told, swapped, np.nan))
    return Examination(results, _traces(world, model, heldout), answers)


def model_results(measured: Measured, heldout: HeldOutEpisodes) -> RewardModelResults | None:
    """The results of a reward model that was `measured` on these episodes; None without ordered pairs."""
    if not measured.agreement.pairs.sum():
        return None
    return RewardModelResults(
        pairs_right=measured.agreement.right,
        pairs=measured.agreement.pairs,
        returns=measured.returns,
        success=heldout.success,
        swapped_returns=None,
    )


def _traces(world: World, model: Agent, heldout: HeldOutEpisodes) -> list[UtilityTrace]:
    """The utility over one successful and one failed episode, those with the most marks."""
    traces = []
    for solved, title in ((True, "A solved episode"), (False, "A failed episode")):
        fitting = [index for index in range(len(heldout)) if heldout.success[index] == solved]
        fitting.sort(key=lambda index: -heldout.marks[index])
        decoded = ((index, heldout.decoded(index)) for index in fitting)
        index, episode = next((each for each in decoded if each[1] is not None), (0, None))
        if episode is None:
            continue
        (utility,) = utilities(model, [heldout.writer.encode_episode(episode, index)])
        traces.append(
            UtilityTrace(
                title=title,
                instruction=_instructions(episode),
                utility=utility.astype(np.float64),
                seconds_per_step=world.spec.seconds_per_step,
                marks=_marks(episode),
                said=[(row + 1, text) for row, text in enumerate(episode.spoke) if text is not None],
                pictures=_pictures(episode),
            )
        )
    return traces


def _instructions(episode: DecodedEpisode) -> str:
    """The instruction; of several, the first and the number of the others."""
    more = len(episode.meta.tasks) - 1
    return f"{episode.meta.tasks[0][1]['instruction']} (and {more} more)" if more > 0 else episode.heard[-1]


def _marks(episode: DecodedEpisode) -> list[tuple[int, int]]:
    clicks = [click for by_rater in episode.marks.values() for click in by_rater]
    return sorted((min(step + 1, episode.rows - 1), sign) for step, sign in clicks)


def _pictures(episode: DecodedEpisode) -> list[tuple[int, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]]:
    if episode.images is None:
        return []
    return [(row, episode.images[row]) for row in evenly_spaced_rows(episode.rows, TRACE_PICTURES)]


@dataclass(frozen=True)
class _Question:
    """An answered question at a step of an episode."""

    kind: str
    episode: int  # its number among the held-out ones
    step: int
    right: str
    wrong: str


def answer_rewards(run: Run, found: ModelOnHeldOut, on: InferenceDevice | None = None) -> dict[str, list[float]]:
    """The rewards of a correct, a wrong and an incoherent answer to each held-out question, at the step of the actual
    answer (Fig. 3C of the paper); of a correct and a wrong one where the world has no answer that would be incoherent,
    as with a single kind of question. `on`: see `utilities`."""
    model, vocabulary, heldout = found.model, found.vocabulary, found.heldout
    rng = numpy_generator(run.seed, "examine", "answers")
    writer, questions = RowWriter(model.layout, vocabulary), list(_questions(found, rng))
    everything = sorted({answer for one in questions for answer in (one.right, one.wrong)})
    strange = [_unfitting(one, questions, everything) for one in questions]
    names = (CORRECT, PLAUSIBLE, INCOHERENT) if any(strange) else (CORRECT, PLAUSIBLE)
    rewards: dict[str, list[float]] = {name: [] for name in names}
    for one, others in zip(questions, strange, strict=True):
        if INCOHERENT in names and not others:  # each kind of answer is scored on the same questions
            continue
        decoded = heldout.decoded(one.episode)
        if decoded is None:
            continue
        arrays = writer.encode_episode(decoded)
        texts = [one.right, one.wrong, *([others[int(rng.integers(len(others)))]] if others else [])]
        for name, text in zip(names, texts, strict=True):
            (utility,) = utilities(model, [_as_if_said(arrays, one.step, vocabulary, text)], on=on)
            rewards[name].append(float(utility[one.step + 1] - utility[one.step]))
    return rewards if rewards[CORRECT] else {}


def _questions(found: ModelOnHeldOut, rng: np.random.Generator) -> Iterator[_Question]:
    """Yields the answered held-out questions that have a plausible wrong answer, which `rng` draws."""
    world = found.world
    for index, meta in enumerate(found.heldout.episodes):
        if not meta.tasks or not meta.steps > 1:
            continue
        episode = found.heldout.if_readable(index, partial(found.snapshot.read, meta.id))
        if episode is None:
            continue
        spoke = episode.said(world.spec.solver)
        answered = [(entry, step) for entry in dialogue(meta) if (step := _answer_step(spoke, entry)) is not None]
        if not answered:  # a reset takes most of the time
            continue
        world.reset(Start(state=episode.initial_state), observers=())
        for entry, step in answered:
            task = world.tasks().load(entry.fields)
            if task.answer is None:
                continue
            wrong = task.misread(world, rng).answer or ""
            if task.rate_answer(wrong) < 0:  # a task without a plausible mistake is its own misreading
                yield _Question(task.kind, index, step, task.answer, wrong)


def _unfitting(one: _Question, questions: Sequence[_Question], everything: Sequence[str]) -> list[str]:
    """The answers to questions of other kinds that are neither right nor plausible for one of this kind."""
    fitting = {answer for other in questions if other.kind == one.kind for answer in (other.right, other.wrong)}
    return [answer for answer in everything if answer not in fitting]


def _answer_step(spoke: Sequence[str | None], question: DialogueTask) -> int | None:
    """The step of the solver's first utterance after the question; None without one."""
    return next((step for step in range(question.step + 1, question.judged) if spoke[step] is not None), None)


def _as_if_said(arrays: Arrays, step: int, vocabulary: Vocabulary, text: str) -> Arrays:
    """The episode up to the row after `step`, in which the solver said `text`."""
    cut = {key: value[: step + 2].copy() for key, value in arrays.items()}
    cut["said"][step + 1, 0] = vocabulary.encode(text, cut["said"].shape[-1])
    return cut
