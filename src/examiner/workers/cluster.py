"""A crew on a Ray cluster: the same function, one core a job, nodes that may come and go."""

from __future__ import annotations

import atexit
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, wraps
from typing import Any, cast

from examiner.workers.crew import Crew, Event, Function, Kind, reason_of
from examiner.workers.programs import ProcessCrew, worker_environment

_ASK_AGAIN_SECONDS = 2.0


class RayCrew(Crew):
    """Runs jobs as tasks of Ray, as many as the cluster has cores.

    `address` is that of a running cluster (`auto` finds the one on this machine); without it, a
    cluster of this machine is started and ended. Every node needs the same packages installed. Each
    job gets a `clean` process, as on `ProcessCrew`, which also imports `modules` only once.
    """

    def __init__(
        self,
        function: Function,
        *,
        address: str | None = None,
        memory_mib: float | None = None,
        clean: bool = True,
        modules: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._ray, self._ours = connected(address)
        options = {"num_cpus": 1, "max_retries": 0, "num_returns": "streaming"}
        environment = {"env_vars": worker_environment()}
        self._task = self._ray.remote(performed).options(runtime_env=environment, **options)
        self._function = self._ray.put(function)
        self._settings = memory_mib, clean, tuple(modules)
        self._cores, self._asked = 0, float("-inf")

    def size(self) -> int:
        """How many cores the cluster has now."""
        if time.monotonic() - self._asked > _ASK_AGAIN_SECONDS:
            self._cores = int(self._ray.cluster_resources().get("CPU", 0))
            self._asked = time.monotonic()
        return self._cores

    def start(self, ticket: int, argument: object) -> None:
        """Hand a job to the cluster."""
        self.running[ticket] = self._task.remote(self._function, argument, *self._settings)

    def events(self, seconds: float) -> list[Event]:
        """What happened since, waiting so long for the first news."""
        if not self.running:
            time.sleep(min(seconds, 0.05))
            return []
        tickets = {id(stream): ticket for ticket, stream in self.running.items()}
        streams = list(self.running.values())
        ready, _ = self._ray.wait(streams, num_returns=len(streams), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(streams, num_returns=1, timeout=seconds)
        return [self._next(tickets[id(stream)], stream) for stream in ready]

    def end(self, running: Any) -> None:  # Any: Ray's generator of references
        """End the process that has a job."""
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.cancel(running, force=True)

    def close(self) -> None:
        """End all jobs, and the connection where it is ours."""
        super().close()
        if self._ours:
            self._ray.shutdown()

    def _next(self, ticket: int, stream: Any) -> Event:
        try:
            kind, value = cast("tuple[Kind, object]", self._ray.get(next(stream)))
        except StopIteration:
            kind, value = "died", "its task ended without a word"
        except self._ray.exceptions.RayTaskError as problem:  # not even the function was found
            kind, value = "failed", reason_of(problem.cause)
        except self._ray.exceptions.RayError as problem:
            kind, value = "died", _death(problem)
        if kind in ("done", "failed", "died"):
            self.running.pop(ticket, None)
        return Event(ticket, kind, value)


def performed(
    function: Function,
    argument: object,
    memory_mib: float | None,
    clean: bool,
    modules: tuple[str, ...],
) -> Iterator[tuple[Kind, object]]:
    """Yield what a worker says of a job, and how it died where it does.

    Ray's own process has threads and cannot be forked: it keeps a worker that can.

    >>> list(performed(iter, [1], None, True, ()))[1:]
    [('heard', 1), ('done', None)]
    """
    crew = _local_crew(function, memory_mib, clean, modules)
    crew.start(0, argument)
    try:
        while 0 in crew.running:
            for event in crew.events(_ASK_AGAIN_SECONDS):
                yield event.kind, event.value
    finally:
        crew.stop(0)


@cache
def _local_crew(
    function: Function, memory_mib: float | None, clean: bool, modules: tuple[str, ...]
) -> ProcessCrew:
    """The crew of one that this process of Ray has for all its jobs; it ends with Ray's."""
    crew = ProcessCrew(function, 1, memory_mib=memory_mib, clean=clean, modules=modules)
    atexit.register(crew.close)
    return crew


def connected(address: str | None) -> tuple[Any, bool]:  # Any: Ray is an extra
    """Return the package ray, connected to a cluster, and whether that connection was made here.

    Without an address a cluster of this machine is started.
    """
    ray = ray_package(local=address is None or _is_here(address))
    if ray.is_initialized():
        return ray, False
    try:
        if address is not None:
            _knock(address)
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="ERROR",
            **({} if address else {"include_dashboard": False}),
        )
    except Exception as problem:  # Ray has no error of its own for this, and raises plain ones too
        first = (str(problem).splitlines() or [""])[0] or type(problem).__name__
        if address is None:
            raise ValueError(
                f"Ray cannot start on this machine: {first[:200].rstrip('.')}. Use local processes, or "
                f"give the address of a running cluster."
            ) from problem
        raise ValueError(
            f"Cannot reach a Ray cluster at {address!r}: {first[:200].rstrip('.')}. Start one with "
            f"`ray start`, or leave the address out."
        ) from problem
    _keep_off_standard_output(ray)
    return ray, True


def _keep_off_standard_output(ray: Any) -> None:  # Any: Ray is an extra
    """Have Ray print its messages to standard error: standard output is for results.

    Ray (2.x) has no setting for it: what its nodes report goes to standard output as it comes.
    """
    module = ray._private.worker
    to_stream = getattr(module, "print_to_stdstream", None)
    if to_stream is not None and not hasattr(to_stream, "__wrapped__"):

        @wraps(to_stream)
        def to_standard_error(data: dict[str, object], *options: Any, **others: Any) -> None:
            to_stream(data | {"is_err": True}, *options, **others)

        module.print_to_stdstream = to_standard_error


def ray_package(*, local: bool) -> Any:  # Any: Ray is an extra
    """Return the package ray, or say how to install it; `local` keeps it to this machine's loopback."""
    if local:
        # Else Ray takes 127.0.0.1 for the address by which other machines would reach this one.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError:
        raise ValueError("Working on a cluster needs Ray: pip install 'examiner[ray]'.") from None
    return ray


def _knock(address: str) -> None:
    """Fail at once where nothing listens: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()


def _is_here(address: str) -> bool:
    return address.rpartition(":")[0] in ("127.0.0.1", "localhost", "[::1]")


def _death(problem: Exception) -> str:
    first_line = next((line.strip() for line in str(problem).splitlines() if line.strip()), "")
    return f"its process or node was lost ({type(problem).__name__}: {first_line[:200]})"
