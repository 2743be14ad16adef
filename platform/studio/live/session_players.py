"""The scripted players and agents of a live session."""

from __future__ import annotations

from collections.abc import Mapping

from interplay.env.task import InfeasibleTask
from interplay.env.world import Action, Movement, View, World
from interplay.episodes.recorder import EpisodeRecorder
from interplay.players.player import Player
from interplay.stages.live_config import SETTER
from interplay.studio.agents.agent_seat import AgentPlayer


class SessionPlayers:
    """Asks the players of a session for their actions, and passes on what was said, seen and executed.

    Args:
        players: by role. Agents are those among them at the start.
        recorder: records the tasks that a scripted setter asks for.
    """

    def __init__(self, world: World, players: Mapping[str, Player], recorder: EpisodeRecorder) -> None:
        self._world, self._recorder = world, recorder
        self._players = dict(players)
        self._spoken = dict.fromkeys(world.spec.roles, "")  # the last utterance of each role
        self.agents = {role: player for role, player in players.items() if isinstance(player, AgentPlayer)}

    def begin(self) -> None:
        """Starts an episode."""
        for role, player in self._players.items():
            player.begin(self._world, role)

    def seat(self, role: str, player: Player) -> None:
        """Seats a player that plays on for a person."""
        player.begin(self._world, role)
        self._players[role] = player

    def observe(self, views: Mapping[str, View], executed: Mapping[str, Movement] | None = None) -> None:
        """Passes on to the agents what they see, and what was executed in their seats in the step before."""
        for role, agent in self.agents.items():
            agent.observe(views[role], None if executed is None else executed[role])

    def hear(self, said: Mapping[str, str]) -> None:
        """Passes on what was said in a step, by role."""
        self._spoken |= said
        solver = self._world.spec.solver
        for player in self._players.values():
            if solver in said and hasattr(player, "on_utterance"):
                player.on_utterance(said[solver])

    def act(self) -> tuple[dict[str, Action], dict[str, str]]:
        """The actions of the next step, and what these players want to say in it, by role."""
        chunks = {role: self._action(role, player) for role, player in self._players.items()}
        said = {role: action.utterance for role, action in chunks.items() if action.utterance is not None}
        return chunks, said

    def _action(self, role: str, player: Player) -> Action:
        asked = getattr(player, "tasks_asked", 0)
        ending = getattr(player, "ending", None)
        heard = next((text for each, text in self._spoken.items() if each != role), "")
        try:
            action = player.act(View(heard=heard, said=self._spoken[role]), self._world)
        except InfeasibleTask:  # nothing can be asked for or done at this moment
            action = Action(self._world.spec.rest())
        if role == SETTER and getattr(player, "ending", None) is not None and ending is None:
            self._recorder.end_task(player.ending)  # type: ignore[attr-defined]
        if role == SETTER and getattr(player, "tasks_asked", 0) > asked:
            self._recorder.ask(player.task.to_json())  # type: ignore[attr-defined]
        return action
