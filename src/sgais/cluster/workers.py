"""The protocol of workers: a pure function of a shard, for many shards, its parts in the order of the shards.

Shards are given by the data and never by the number of workers, parts are pure, and whoever adds them does so in the
order of the shards. So neither how many workers there are nor which of them had to be asked twice shows in a bit.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

# Of what stays the same from call to call, of what does not, and of a shard.
Task: TypeAlias = Callable[[Any, Any, Any], Any]


class Workers(Protocol):
    """Whatever can do tasks.

    Example:
        >>> workers: sgais.cluster.Workers = sgais.cluster.Local()
        >>> workers.parts(lambda model, power, shard: shard**power, None, 2, [1, 2, 3])
        [1, 4, 9]
    """

    def parts(self, task: Task, common: Any, argument: Any, shards: Sequence[Any]) -> list[Any]:
        """What the task makes of each shard, in their order. What a task raises is raised here.

        Args:
            task: A function of a module, pure: it may be called again where a worker was lost.
            common: Sent once to each worker, as long as it is the same object: the model.
            argument: Sent with every call: numbers.
            shards: Small descriptions of the data, not the data.
        """

    def close(self) -> None:
        """Let the workers go."""
