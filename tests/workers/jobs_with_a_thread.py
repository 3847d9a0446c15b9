"""A job whose module starts a thread when it is imported: its process cannot fork safely."""

import threading

from workers.jobs_with_state import say_processes as say_processes

threading.Thread(target=threading.Event().wait, daemon=True).start()


def say_processes_beside_a_thread(job: object) -> object:
    """Yield the numbers of this process and of its parent."""
    return say_processes(job)
