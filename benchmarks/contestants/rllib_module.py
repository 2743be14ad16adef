"""The contest's network as RLlib takes networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from network import Torso
from pixels import ACTIONS
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from sizes import SIZES
from torch import Tensor, nn


class PixelModule(TorchRLModule, ValueFunctionAPI):
    """Torso, LSTM, policy and value; `model_config["size"]` names one of `SIZES`."""

    def setup(self) -> None:
        """Builds the layers."""
        size = SIZES[self.model_config["size"]]
        self.width = size.lstm
        self.torso = Torso(size)
        self.lstm = nn.LSTM(size.lstm, size.lstm, batch_first=True)
        self.policy = nn.Linear(size.lstm, ACTIONS)
        self.value = nn.Linear(size.lstm, 1)

    def get_initial_state(self) -> dict[str, Any]:
        """Nothing remembered."""
        return {"h": np.zeros(self.width, np.float32), "c": np.zeros(self.width, np.float32)}

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        core, state = self._core(batch)
        return {Columns.ACTION_DIST_INPUTS: self.policy(core), Columns.STATE_OUT: state}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        core, state = self._core(batch)
        return {Columns.ACTION_DIST_INPUTS: self.policy(core), Columns.STATE_OUT: state, Columns.EMBEDDINGS: core}

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """[B, T]."""
        core = self._core(batch)[0] if embeddings is None else embeddings
        values: Tensor = self.value(core)[..., 0]
        return values

    def _core(self, batch: dict[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
        pictures, state = batch[Columns.OBS], batch[Columns.STATE_IN]  # [B, T, 3, 72, 96]
        core, (h, c) = self.lstm(self.torso(pictures), (state["h"][None], state["c"][None]))
        return core, {"h": h[0], "c": c[0]}
