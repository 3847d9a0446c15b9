"""The network of DQN and all that trains it: stable-baselines3's algorithm on a memory of our own."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.arrays import grown, packed, unpacked
from examiner.messages import InputError
from examiner.validation import check_number

if TYPE_CHECKING:  # both come only with an extra, and take seconds to import
    import torch
    from stable_baselines3.common.type_aliases import ReplayBufferSamples


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
            len(shape) == 1
            or (len(shape) == 3 and min(shape[1:]) >= 36)  # pixels for three convolutions
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
            input_values = torch.as_tensor(np.asarray(observation)[None], device=algorithm.device)
            if input_values.dtype != torch.uint8:
                input_values = input_values.float()
            return int(algorithm.q_net(input_values).argmax())

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
    names = (name for name in arrays if name.startswith(part))
    return {name.removeprefix(part): arrays[name] for name in names}


Arrays = dict[str, NDArray[Any]]
_PIECE = 1 << 24  # bytes unpacked at a time


@dataclass(frozen=True, slots=True)
class Transitions:
    """Decisions drawn from a memory, one a row."""

    observations: NDArray[Any]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    next_observations: NDArray[Any]
    ended: NDArray[np.bool_]


class ReplayMemory:
    """The last so many observations, and what was done on them.

    Of a stack of screens, shape [depth, rows, columns], that goes on the stack before it only the newest
    screen is kept, which takes a quarter of the memory for four screens; any other observation is
    kept whole. Memory grows as it fills: 7 kB a decision for screens of 84 × 84 pixels.

    >>> memory = ReplayMemory((2,), np.float32, size=100)
    >>> memory.see(np.zeros(2, np.float32))
    >>> for step in (1.0, 2.0):
    ...     memory.follow(action=0, reward=step, observation=np.full(2, step, np.float32), ended=False)
    >>> drawn = memory.draw(4, np.random.default_rng(0))
    >>> np.array_equal(drawn.next_observations[:, 0], drawn.rewards)
    True
    """

    def __init__(self, shape: tuple[int, ...], kind: Any, *, size: int) -> None:
        self._shape, self._size = shape, size
        self._depth = shape[0] if len(shape) == 3 else 1
        screen = shape[1:] if self._depth > 1 else shape
        self._arrays: Arrays = {
            "screens": np.zeros((0, *screen), dtype=kind),
            "actions": np.zeros(0, dtype=np.int16),
            "rewards": np.zeros(0, dtype=np.float32),
            "ended": np.zeros(0, dtype=np.bool_),
            # How far the next observation is; 0 if there is none.
            "ahead": np.zeros(0, dtype=np.uint8),
        }
        self._next = self._count = 0
        self._last: NDArray[Any] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def bytes(self) -> int:
        """Memory of everything, room for more included."""
        return sum(array.nbytes for array in self._arrays.values())

    def see(self, observation: NDArray[Any]) -> None:
        """Keep an observation that nothing led to: something begins."""
        self._last = None
        self._keep(observation)

    def follow(self, *, action: int, reward: float, observation: NDArray[Any], ended: bool) -> None:
        """Keep what was done on the last observation, and what followed."""
        index = (self._next - 1) % self._size
        self._arrays["actions"][index] = action
        self._arrays["rewards"][index] = reward
        self._arrays["ended"][index] = ended
        self._arrays["ahead"][index] = self._keep(observation)

    def draw(self, count: int, rng: np.random.Generator) -> Transitions:
        """Return decisions drawn with the same probability, with replacement."""
        indices = np.empty(0, dtype=np.int64)
        while len(indices) < count:
            drawn = rng.integers(self._count, size=count)
            indices = np.concatenate([indices, drawn[self._whole(drawn)]])
        indices = indices[:count]
        ahead = self._arrays["ahead"][indices]
        return Transitions(
            observations=self._stacks(indices),
            actions=self._arrays["actions"][indices].astype(np.int64),
            rewards=self._arrays["rewards"][indices],
            next_observations=self._stacks(indices + ahead),
            ended=self._arrays["ended"][indices],
        )

    def to_arrays(self) -> Arrays:
        """Return all that is kept, screens packed."""
        arrays = {name: array[: self._count] for name, array in self._arrays.items()}
        screens = np.ascontiguousarray(arrays.pop("screens"))
        packed = np.frombuffer(zlib.compress(screens.data, zlib.Z_BEST_SPEED), dtype=np.uint8)
        return {"packed": packed, "next": np.array(self._next), **arrays}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on between two episodes with what was kept."""
        self._next, self._count = int(arrays["next"]), len(arrays["ahead"])
        for name, array in self._arrays.items():
            if name != "screens":
                self._arrays[name] = arrays[name].astype(array.dtype)
        kept = self._arrays["screens"]
        screens = np.empty((self._count, *kept.shape[1:]), dtype=kept.dtype)
        _unpack(arrays["packed"], screens)
        self._arrays["screens"] = screens
        self._last = None

    def _keep(self, observation: NDArray[Any]) -> int:
        """Keep what is new of an observation; return how many screens that is."""
        stack = observation if self._depth > 1 else observation[None]
        goes_on = self._last is not None and np.array_equal(stack[:-1], self._last[1:])
        new = stack[-1:] if goes_on else stack
        for screen in new:
            self._make_room()
            self._arrays["screens"][self._next] = screen
            self._arrays["ahead"][self._next] = 0
            self._next = (self._next + 1) % self._size
            self._count = min(self._count + 1, self._size)
        self._last = stack.copy()
        return len(new)

    def _make_room(self) -> None:
        if self._next >= len(self._arrays["ahead"]):
            for name, array in self._arrays.items():
                self._arrays[name] = grown(array, max(self._next + 1, 1024), most=self._size)

    def _whole(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which decisions have a next observation and no screen that was overwritten."""
        ahead = self._arrays["ahead"][indices]
        age = (self._next - 1 - indices) % self._size
        whole: NDArray[np.bool_] = (ahead > 0) & (age + self._depth <= self._count)
        return whole

    def _stacks(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        screens = self._arrays["screens"]
        if self._depth == 1:
            return np.asarray(screens[indices % self._size])
        window = indices[:, None] + np.arange(1 - self._depth, 1)
        return np.asarray(screens[window % self._size])


def _unpack(packed: NDArray[np.uint8], screens: NDArray[Any]) -> None:
    """Fill in what was packed piece by piece: a full memory is not held twice."""
    unpacking, remaining, index = zlib.decompressobj(), packed.tobytes(), 0
    room = screens.reshape(-1).view(np.uint8)
    while piece := unpacking.decompress(remaining, _PIECE):
        room[index : index + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        index, remaining = index + len(piece), unpacking.unconsumed_tail
