"""Whether an agent of a given size can read a room: its questions, learned from single pictures and clean labels.

    python benchmarks/readable_room.py experiment=demo                      # the demo's room and agent
    python benchmarks/readable_room.py experiment=orderings --seconds 120   # another room, for longer
    python benchmarks/readable_room.py experiment=demo agent.width=96 --json -

An agent that cannot answer here, where every label is right and every picture shows the moment of the question, answers
no better after cloning or reinforcement. Eight questions are learned together by the agent's own encoder, from the view
at the start of an episode: in which of seven directions a thing is, named by its color, its category, or both, or as
the thing to be moved by an instruction of the probes lift and position; and the probes color, count and exist. Prints
the accuracy on houses that were not learned from, next to that of always giving the most frequent answer.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.env import registry
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start
from interplay.episodes.vocabulary import Vocabulary
from interplay.launch.compose import compose
from interplay.stages.config import Config

QUESTIONS = ("color", "count", "exist")
MOVED = ("lift", "position")
DIRECTIONS = 7  # equal parts of the view's width
HELD_OUT = 0.1  # of the houses
WARM_UP = 50  # updates


@dataclass(frozen=True)
class Labeled:
    """A question about a picture."""

    house: int  # index of the picture
    kind: str
    text: str
    label: str


class Data(NamedTuple):
    """Questions as arrays."""

    house: NDArray[np.int64]  # [N]
    heard: NDArray[np.int16]  # [N, L]
    kind: NDArray[np.int64]  # [N], index into the kinds
    label: NDArray[np.int64]  # [N]


def draw(world: Playhouse, houses: int, seed: int) -> tuple[NDArray[np.uint8], list[Labeled]]:
    """The solver's first pictures of `houses` houses [N, H, W, 3], and the questions about them."""
    rng = np.random.default_rng(seed)
    pictures, questions = [], []
    for index in range(houses):
        world.reset(Start(seed=int(rng.integers(2**31))), observers=())
        pictures.append(world.view(world.spec.solver).image)
        asked = (*_where(world, rng), *_to_be_moved(world, rng), *_asked(world, rng))
        questions += [Labeled(index, *each) for each in asked]
    return np.array(pictures), questions


def _where(world: Playhouse, rng: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    """The direction of a thing in view, by each way of naming it that fits no other."""
    facts = world.facts()
    things = [thing for thing in facts.things if _direction(world, thing) is not None]
    ways: dict[str, Any] = {
        "where by color": lambda t: f"{t.color} thing",
        "where by category": lambda t: t.category,
        "where by both": lambda t: t.name,
    }
    for kind, name in ways.items():
        counts = Counter(name(thing) for thing in facts.things)
        named: list[Thing] = [thing for thing in things if counts[name(thing)] == 1]
        if named:
            thing = named[int(rng.integers(len(named)))]
            yield kind, f"where is the {name(thing)}", f"direction {_direction(world, thing)}"


def _to_be_moved(world: Playhouse, rng: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    """The direction of the thing that an instruction asks to move, if it is in view."""
    for kind in MOVED:
        try:
            task: Any = world.tasks().sample(kind, rng)
        except InfeasibleTask:
            continue
        direction = _direction(world, world.facts().things[task.target])
        if direction is not None:
            yield kind, task.instruction, f"direction {direction}"


def _direction(world: Playhouse, thing: Thing) -> int | None:
    """Which of the `DIRECTIONS` parts of the solver's view a thing is in; None if it is out of view."""
    width = world.config.view[0]
    place = predicates.bearing(world.facts().bodies[world.spec.solver], thing.xy) / width + 0.5
    return int(place * DIRECTIONS) if 0 < place < 1 else None


def _asked(world: Playhouse, rng: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    for kind in QUESTIONS:
        try:
            task = world.tasks().sample(kind, rng)
        except InfeasibleTask:
            continue
        assert task.answer is not None
        yield kind, task.instruction, task.answer


class Reader(nn.Module):
    """The agent's encoder with a softmax over all labels."""

    def __init__(self, agent: Agent, labels: int) -> None:
        super().__init__()
        self.agent = agent
        self.out = nn.Linear(agent.config.lstm, labels)

    def forward(self, image: Tensor, heard: Tensor) -> Tensor:
        """uint8 [N, H, W, 3] and int16 [N, L] -> logits [N, labels]."""
        world, n = self.agent.layout.world, image.shape[0]
        rest = torch.from_numpy(self.agent.layout.rest()).expand(n, -1, -1)
        observations = {"image": image, "heard": heard, "said": torch.zeros_like(heard), "previous": rest}
        if world.vector:
            observations["vector"] = torch.zeros(n, world.vector)
        logits: Tensor = self.out(self.agent.encode(observations, with_vision=False).aggregate)
        return logits


class Encoding(NamedTuple):
    """How questions become arrays."""

    kinds: Sequence[str]
    labels: Sequence[str]
    words: Vocabulary
    length: int  # L

    def arrays(self, questions: Sequence[Labeled]) -> Data:
        """The arrays of these questions."""
        return Data(
            np.array([each.house for each in questions]),
            np.array([self.words.encode(each.text, self.length) for each in questions]),
            np.array([self.kinds.index(each.kind) for each in questions]),
            np.array([self.labels.index(each.label) for each in questions]),
        )


def accuracies(reader: Reader, pictures: Tensor, data: Data, kinds: Sequence[str]) -> dict[str, float]:
    """Accuracy by kind of question."""
    right = []
    with torch.no_grad():
        for start in range(0, len(data.label), 256):
            part = slice(start, start + 256)
            logits = reader(pictures[data.house[part]], torch.from_numpy(data.heard[part]))
            right.append(logits.argmax(-1).numpy() == data.label[part])
    correct = np.concatenate(right)
    return {kind: float(correct[data.kind == number].mean()) for number, kind in enumerate(kinds)}


def learn(config: Config, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Trains a reader; returns a row of accuracies every `report` CPU seconds, the most frequent answer's first."""
    settings = dict(config.env)
    world = registry.make(settings.pop("name"), **settings)
    assert isinstance(world, Playhouse), "this benchmark is about rooms of the Playhouse"
    images, questions = draw(world, options.houses, options.seed)
    words = Vocabulary.build(Counter(q.text for q in questions), config.agent.vocabulary, config.agent.tokens)
    kinds, labels = sorted({q.kind for q in questions}), sorted({q.label for q in questions})
    encoding = Encoding(kinds, labels, words, config.agent.utterance_length)
    boundary = int(options.houses * (1 - HELD_OUT))
    train = encoding.arrays([q for q in questions if q.house < boundary])
    test = encoding.arrays([q for q in questions if q.house >= boundary])
    torch.manual_seed(options.seed)
    layout = Layout(world.spec, encoding.length, config.agent.actions_per_step)
    reader = Reader(Agent(config.agent, layout, len(words)), len(labels))
    rows: list[dict[str, Any]] = [_most_frequent(test, kinds)]
    pictures = torch.from_numpy(images)
    optimizer = torch.optim.Adam(reader.parameters(), lr=options.rate)
    rng, spent, updates = np.random.default_rng(options.seed), 0.0, 0
    while spent < options.seconds:
        began = time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(1.0, (updates + 1) / WARM_UP)
        chosen = rng.integers(len(train.label), size=options.batch)
        logits = reader(pictures[train.house[chosen]], torch.from_numpy(train.heard[chosen]))
        loss = functional.cross_entropy(logits, torch.from_numpy(train.label[chosen]))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 10.0)
        optimizer.step()
        before, spent, updates = spent, spent + time.process_time() - began, updates + 1
        if spent // options.report > before // options.report:
            rows.append({"cpu_seconds": spent, "updates": updates, **accuracies(reader, pictures, test, kinds)})
            _print(rows[-1], f"{spent:.0f} CPU s, {updates} updates")
    return rows


def _most_frequent(test: Data, kinds: Sequence[str]) -> dict[str, float]:
    """The accuracy of always giving the most frequent answer of a kind."""
    found = {}
    for number, kind in enumerate(kinds):
        labels = test.label[test.kind == number]
        found[kind] = max(Counter(labels.tolist()).values()) / len(labels)
    _print(found, "most frequent answer")
    return found


def _print(found: dict[str, float], what: str) -> None:
    shown = [f"{kind} {value:.2f}" for kind, value in found.items() if kind not in ("cpu_seconds", "updates")]
    print(f"{what:>24}  " + "  ".join(shown), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("overrides", nargs="*", help="settings of the run, such as experiment=demo")
    parser.add_argument("--houses", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of training")
    parser.add_argument("--report", type=float, default=20.0, help="CPU seconds between measurements")
    parser.add_argument("--rate", type=float, default=7e-4, help="learning rate of Adam")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    add_json_option(parser)
    options = parser.parse_args()
    rows = learn(compose(options.overrides), options)
    write_json(options.json, {"settings": vars(options), "rows": rows})


if __name__ == "__main__":
    main()
