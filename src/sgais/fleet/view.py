"""What is read off a fleet: how the models stand for each key, as tables and in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sgais.comparison.comparison import Comparison
from sgais.comparison.probabilities import with_bands
from sgais.compute.random_keys import named_seed
from sgais.errors import require
from sgais.estimators.importance.config import ImportanceConfig
from sgais.fields import Field, Fields
from sgais.fleet import watch
from sgais.fleet.alone import Alone
from sgais.fleet.kept_rows import KeptRows
from sgais.fleet.key_table import Column, KeyTable
from sgais.fleet.readers import Readers
from sgais.fleet.records import FleetAlarm, FleetRecord, Switch
from sgais.results import rendered
from sgais.results.summary import with_error

if TYPE_CHECKING:
    import pandas as pd

TOGETHER, ALONE, FAILED = 0, 1, 2  # how a key is kept
WORDS = np.array(["together", "alone", "failed"])
NOBODY = -1  # leads beyond doubt
MOST_SHOWN = 20  # keys, in a notebook


def columns_of(num_models: int) -> dict[str, Column]:
    """What is kept of each key beside its rows and particles."""
    of_models = (num_models,)
    return {
        "kind": Column((), np.int8),
        "num_rows": Column((), np.int64),
        "num_chunks": Column((), np.int64),
        "last_row": Column((), np.int64),
        "log_evidence": Column(of_models, np.float64),
        "error": Column(of_models, np.float64),
        "leader": Column((), np.int16),
        "sure_leader": Column((), np.int16, NOBODY),
        **watch.columns(num_models),
    }


class FleetView:
    """Whatever compares models for many keys, to read."""

    names: tuple[str, ...]
    seed: int
    log_odds: dict[str, float]
    alarms: list[FleetAlarm]
    switches: list[Switch]
    _index: dict[str, int]
    _table: KeyTable
    _particles: KeyTable
    _rows: KeptRows
    _alone: Alone
    _readers: Readers
    _draws: ImportanceConfig
    _num_rows: int
    _last: FleetRecord | None

    @property
    def num_rows(self) -> int:
        """Rows seen so far, of all keys."""
        return self._num_rows

    @property
    def last_record(self) -> FleetRecord | None:
        """What the newest chunk gave; None before the first."""
        return self._last

    @property
    def fields(self) -> Fields | None:
        """The columns that rows must have, for `sgais.stream(source, fields=...)`; None where the first chunk says."""
        declared = self._readers.declared
        return None if declared is None else declared | {self._readers.key: Field(is_as_it_comes=True)}

    @property
    def failures(self) -> dict[str, str]:
        """Why keys cannot go on: no model explains their rows. Further rows of theirs are left out."""
        names = list(self._index)
        return {names[number]: why for number, why in self._alone.failures.items()}

    def __len__(self) -> int:
        return len(self._index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __contains__(self, key: object) -> bool:
        return str(key) in self._index

    def __getitem__(self, key: str | int) -> Comparison:
        """The comparison of one key as of now, to read; what is done to it does not change the fleet."""
        number = self._number(key)
        if number in self._alone.members:
            return self._alone.members[number].frozen()
        why = self._alone.failures.get(number, "")
        require(not why, "key", "be one that a model explains", str(key), f"It failed: {why}")
        odds = {name: float(np.exp(each)) for name, each in self.log_odds.items()}
        comparison = Comparison(self._readers.models, self._draws, self._seed_of(str(key)), odds)
        comparison.update(self._rows.of(number))
        return comparison

    def alarms_of(self, key: str | int) -> list[FleetAlarm]:
        """The alarms of one key so far."""
        self._number(key)
        return [alarm for alarm in self.alarms if alarm.key == str(key)]

    @property
    def num_bytes(self) -> int:
        """Memory of the keys that are taken together: rows, particles and numbers."""
        return self._rows.num_bytes + self._table.num_bytes + self._particles.num_bytes

    def table(self) -> "pd.DataFrame":
        """One line per key: its rows, the model that leads and how sure that is, what happened to it."""
        import pandas as pd  # slow to import

        count, table = len(self), self._table
        keys = np.arange(count)
        probabilities, lows, _ = self._probabilities(keys)
        leaders = probabilities.argmax(axis=1)
        number_of, names = self._index, list(self._index)
        alarms, last_alarms = np.zeros(count, int), np.zeros(count, int)
        switches = np.zeros(count, int)
        for alarm in self.alarms:
            alarms[number_of[alarm.key]] += 1
            last_alarms[number_of[alarm.key]] = alarm.row
        for switch in self.switches:
            switches[number_of[switch.key]] += 1
        notes = [self._alone.failures.get(number, self._warning(number)) for number in range(count)]
        lines = {
            "rows": table["num_rows"][:count],
            "chunks": table["num_chunks"][:count],
            "leader": np.array(self.names, object)[leaders],
            "probability": probabilities[keys, leaders],
            "low": lows[keys, leaders],
            "log_evidence": table["log_evidence"][keys, leaders],
            "standard_error": table["error"][keys, leaders],
            "alarms": alarms,
            "last_alarm": last_alarms,
            "switches": switches,
            "last_seen": table["last_row"][:count],
            "kept": WORDS[table["kind"][:count]],
            "note": notes,
        }
        return pd.DataFrame(lines, index=pd.Index(names, name=self._readers.key))

    def to_frame(self) -> "pd.DataFrame":
        """Log Z, its error and the probability of every model for every key, one line each."""
        import pandas as pd  # slow to import

        keys, models = np.arange(len(self)), len(self.names)
        probabilities, lows, highs = self._probabilities(keys)
        return pd.DataFrame(
            {
                self._readers.key: np.repeat(np.array(list(self._index), object), models),
                "model": np.tile(np.array(self.names, object), len(keys)),
                "log_evidence": self._table["log_evidence"][keys].ravel(),
                "standard_error": self._table["error"][keys].ravel(),
                "probability": probabilities.ravel(),
                "low": lows.ravel(),
                "high": highs.ravel(),
            }
        )

    def __str__(self) -> str:
        alone, failed = len(self._alone.members), len(self._alone.failures)
        parts = [f"{len(self):,} keys, {self._num_rows:,} rows", f"{len(self.alarms)} alarms"]
        parts += [f"{len(self.switches)} switches of models", f"{alone} keys with an estimator of their own"]
        return ", ".join(parts) + (f". BEWARE: {failed} keys that no model explains." if failed else ".")

    def _repr_html_(self) -> str:
        import pandas as pd  # slow to import

        table = self.table().sort_values(["switches", "alarms", "rows"], ascending=False).head(MOST_SHOWN)
        shown = {
            str(key): {
                "rows": f"{line['rows']:,}",
                "leader": line["leader"],
                "probability": f"{line['probability']:.3f}",
                "log Z": with_error(line["log_evidence"], line["standard_error"]),
                "alarms": str(line["alarms"]),
                "switches": str(line["switches"]),
            }
            for key, line in table.iterrows()
        }
        return rendered.html(pd.DataFrame.from_dict(shown, orient="index"), [str(self)])

    def _probabilities(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each model, with the ends of their bands, shape (keys, models)."""
        log_odds = np.array([self.log_odds[name] for name in self.names])
        return with_bands(log_odds + self._table["log_evidence"][keys], self._table["error"][keys])

    def _warning(self, number: int) -> str:
        member = self._alone.members.get(number)
        if member is None:
            return ""
        return "; ".join(dict.fromkeys(one.warning for one in member.standings.values() if one.warning))

    def _number(self, key: str | int) -> int:
        require(str(key) in self._index, "key", "be one that has had rows", str(key))
        return self._index[str(key)]

    def _seed_of(self, key: str) -> int:
        """Of everything random about a key, whatever others there are."""
        return named_seed(self.seed, f"key {key}")
