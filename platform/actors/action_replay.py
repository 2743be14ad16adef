"""Recording of the episodes of a Minari dataset in the Gymnasium world of their environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.env.minari_dataset import MinariEpisode
from interplay.env.not_reenacted import NotReenacted
from interplay.env.world import Action, Start, World
from interplay.episodes.episode import Episode, new_episode_id
from interplay.episodes.recorder import EpisodeRecorder
from interplay.players.setter import choose_by_kind


@dataclass(frozen=True)
class ActionReplay:
    """Plays one episode after another in a world."""

    world: World
    world_config: Mapping[str, Any]

    def play(self, episode: MinariEpisode, split: str) -> Episode:
        """The recorded episode: the setter says the mission in the first step, the solver repeats the actions.

        Its players are stored as scripted ones, so that the solver is cloned. The source decides the end of the id.

        Raises:
            InfeasibleTask: the environment has no mission, and the settings no instruction.
            NotReenacted: a reward or an ending differs from the recorded one.
        """
        setter, solver = self.world.spec.roles
        views = self.world.reset(Start(seed=episode.seed), observers=(solver,))
        recorder = EpisodeRecorder(
            self.world,
            players={setter: {"kind": "scripted"}, solver: {"kind": "scripted", "source": episode.source}},
            world_config=self.world_config,
            split=split,
        )
        recorder.begin(seed=episode.seed, views=views, id=new_episode_id(episode.source))
        task = choose_by_kind(self.world, {}, np.random.default_rng(episode.seed))
        recorder.ask(task.to_json())
        for step, movement in enumerate(episode.movements):
            said = task.instruction if step == 0 else None
            actions = {setter: Action(self.world.spec.rest(), said), solver: Action(movement)}
            outcome = self.world.step(actions, observers=(solver,))
            terminated = outcome.done and not outcome.truncated
            if found := episode.difference(step, outcome.env_reward, terminated, outcome.truncated):
                raise NotReenacted(
                    f"{episode.source} takes another course in this world than in the environment of the dataset: "
                    f"after step {step + 1}, {found}; env.max_steps sets the time limit",
                    "episodes that take another course in the world",
                )
            recorder.record(actions, outcome)
        return recorder.finish()
