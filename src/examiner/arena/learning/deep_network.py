"""The network of DQN and all that trains it: stable-baselines3's algorithm on a memory of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.arrays import packed, unpacked
from examiner.arena.learning.replay import Arrays, ReplayMemory
from examiner.messages import InputError
from examiner.validation import check_number

if TYPE_CHECKING:  # both come only with an extra, and take seconds to import
    import torch
    from stable_baselines3.common.type_aliases import ReplayBufferSamples


_LEAST_SIDE = 36
"""Pixels that the three convolutions need, in rows and in columns."""


@dataclass
class NetworkSettings:
    """How a network is made and trained, and how much it remembers; the defaults are the paper's."""

    learning_rate: float = 0.00025
    optimiser: Literal["rmsprop", "adam"] = "rmsprop"
    discount: float = 0.99
    batch: int = 32
    memory: int = 1_000_000
    target_every: int = 10_000
    device: str = "cpu"
    threads: int = 1


class DeepNetwork:
    """Action values of observations, by the network of Mnih et al. (2015) or, for vectors, 64 × 64 units.

    The algorithm of stable-baselines3 is used for networks, loss and training; not its loop over
    environments, its replay buffer or its random numbers, which cannot be resumed.
    """

    def __init__(
        self, shape: tuple[int, ...], actions: int, settings: NetworkSettings, *, seed: int
    ) -> None:
        if not actions or not (
            len(shape) == 1 or (len(shape) == 3 and min(shape[1:]) >= _LEAST_SIDE)
        ):
            raise InputError(
                f"The agent 'dqn' sees shape {shape} and has {actions} actions to choose from. Set its "
                f"observation to 'dqn84x4', and choose an environment whose actions can be counted."
            )
        depth = shape[0] if len(shape) == 3 else 1
        check_number("memory", settings.memory, whole=True, least=depth + 1)
        import torch

        torch.set_num_threads(settings.threads)
        self.actions, self._batch = actions, settings.batch
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._algorithm = _algorithm(
                shape,
                actions,
                learning_rate=settings.learning_rate,
                gamma=settings.discount,
                target_update_interval=settings.target_every,
                policy_kwargs=_optimiser(settings.optimiser),
                device=settings.device,
            )
        kind = np.uint8 if len(shape) == 3 else np.float32
        self._memory = ReplayMemory(shape, kind, size=settings.memory)
        self._drawing = _Drawing(self._memory, self._algorithm.device)
        self._algorithm.replay_buffer = self._drawing

    def see(self, observation: NDArray[Any]) -> None:
        """Keep the first observation of something new."""
        if observation.ndim == 3 and observation.dtype != np.uint8:
            raise InputError(
                f"The agent 'dqn' sees screens of {observation.dtype}; it keeps them as bytes. Set its "
                f"observation to 'dqn84x4', or give it screens of whole numbers from 0 to 255."
            )
        self._memory.see(observation)

    def follow(self, action: int, reward: float, observation: NDArray[Any], ended: bool) -> None:
        """Keep what was done on the last observation, and what followed."""
        self._memory.follow(action=action, reward=reward, observation=observation, ended=ended)

    def best_action(self, observation: NDArray[Any]) -> int:
        """Return the action of the highest value."""
        import torch

        algorithm = self._algorithm
        algorithm.policy.set_training_mode(False)
        with torch.no_grad():
            seen = torch.as_tensor(np.asarray(observation)[None], device=algorithm.device)
            if seen.dtype != torch.uint8:
                seen = seen.float()
            return int(algorithm.q_net(seen).argmax())

    def step(self, *, train: bool, rng: np.random.Generator) -> None:
        """Count a decision: renew the target network when it is due, and train if wanted."""
        self._algorithm._on_step()
        if train:
            self._drawing.rng = rng
            self._algorithm.train(gradient_steps=1, batch_size=self._batch)

    def save(self, decisions: int) -> bytes:
        """Return networks, optimiser and memory as plain arrays."""
        arrays = {f"memory/{name}": array for name, array in self._memory.to_arrays().items()}
        for name, tensor in self._algorithm.policy.state_dict().items():
            arrays[f"network/{name}"] = tensor.cpu().numpy()
        for index, state in self._algorithm.policy.optimizer.state_dict()["state"].items():
            for name, tensor in state.items():
                arrays[f"optimiser/{index}/{name}"] = tensor.cpu().numpy()
        return packed(arrays, {"agent": "dqn", "decisions": decisions})

    def load(self, data: bytes) -> int:
        """Go on with what was saved; return the decisions until then."""
        import torch

        arrays, words = unpacked(data, agent="dqn")
        algorithm = self._algorithm
        self._memory.load(_under("memory/", arrays))
        network = _under("network/", arrays)
        algorithm.policy.load_state_dict(
            {name: torch.from_numpy(array.copy()) for name, array in network.items()}
        )
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in _under("optimiser/", arrays).items():
            index, _, value = name.partition("/")
            state.setdefault(int(index), {})[value] = torch.from_numpy(array.copy())
        groups = algorithm.policy.optimizer.state_dict()["param_groups"]
        algorithm.policy.optimizer.load_state_dict({"state": state, "param_groups": groups})
        algorithm._n_calls = int(words["decisions"])
        return int(words["decisions"])


def _algorithm(shape: tuple[int, ...], actions: int, **settings: Any) -> Any:
    """Return DQN of stable-baselines3, made as it makes itself when loaded: without an environment."""
    import gymnasium
    import stable_baselines3
    from stable_baselines3.common.logger import Logger

    images = len(shape) == 3
    policy = "CnnPolicy" if images else "MlpPolicy"
    algorithm: Any = stable_baselines3.DQN(
        policy, None, buffer_size=1, _init_setup_model=False, **settings
    )
    spaces = gymnasium.spaces
    low, high, kind = (0, 255, np.uint8) if images else (-np.inf, np.inf, np.float32)
    algorithm.observation_space = spaces.Box(low, high, shape=shape, dtype=kind)
    algorithm.action_space = spaces.Discrete(actions)
    algorithm.n_envs = 1
    algorithm._setup_model()
    algorithm.set_logger(Logger(folder=None, output_formats=[]))
    return algorithm


def _optimiser(name: str) -> dict[str, Any]:
    import torch

    if name == "adam":
        return {"optimizer_class": torch.optim.Adam, "optimizer_kwargs": {}}
    # The paper's: means of gradients and of their squares, both with 0.95, and 0.01 against division by 0.
    settings = {"alpha": 0.95, "eps": 0.01, "centered": True}
    return {"optimizer_class": torch.optim.RMSprop, "optimizer_kwargs": settings}


class _Drawing:
    """What stable-baselines3 asks for batches: our memory, with an episode's own random numbers."""

    def __init__(self, memory: ReplayMemory, device: torch.device) -> None:
        self._memory, self._device = memory, device
        self.rng = np.random.default_rng(0)  # replaced before every draw

    def sample(self, batch_size: int, env: object = None) -> ReplayBufferSamples:
        from stable_baselines3.common.type_aliases import ReplayBufferSamples

        drawn = self._memory.draw(batch_size, self.rng)
        return ReplayBufferSamples(
            observations=self._tensor(drawn.observations),
            actions=self._tensor(drawn.actions[:, None]),
            next_observations=self._tensor(drawn.next_observations),
            dones=self._tensor(drawn.ended[:, None].astype(np.float32)),
            rewards=self._tensor(drawn.rewards[:, None]),
        )

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        import torch

        return torch.as_tensor(array, device=self._device)


def _under(part: str, arrays: Arrays) -> Arrays:
    """The arrays whose names begin with that of a part, under the rest of their names."""
    found = (name for name in arrays if name.startswith(part))
    return {name.removeprefix(part): arrays[name] for name in found}
