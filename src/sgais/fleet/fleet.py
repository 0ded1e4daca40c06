"""Fleet: push chunks with a column of keys, read off how the models stand for each key. Joins; computes nothing."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sgais import checkpoint
from sgais.comparison.comparison import Comparison
from sgais.comparison.probabilities import log_prior_odds
from sgais.errors import SgaisError, is_number, require, require_count
from sgais.estimators.default.config import Config
from sgais.estimators.importance.config import ImportanceConfig
from sgais.estimators.importance.many import NUM_PARTICLES, KeyedRows
from sgais.fleet import watch
from sgais.fleet.alone import Alone
from sgais.fleet.kept_rows import Group, KeptRows
from sgais.fleet.key_table import Column, KeyTable
from sgais.fleet.keyed_chunk import KeyedChunk
from sgais.fleet.readers import Readers
from sgais.fleet.records import FleetAlarm, FleetRecord, Switch
from sgais.fleet.together import PURPOSE, Weighed, can_be_together, ranks_of, seeds_of, weighed
from sgais.fleet.view import ALONE, FAILED, NOBODY, TOGETHER, FleetView, columns_of
from sgais.models.base import ModelLike, real_dtype, require_model
from sgais.online import SAVED_TYPES
from sgais.results.bands import SEPARATED
from sgais.run_loop import Place, Streamed


class Fleet(FleetView, Streamed[FleetRecord]):
    """One comparison for each key of a stream.

    Keys with few rows are taken together: log Z of each comes from draws around its mode, weighed on all its rows, many
    keys in one compiled call. A key that this does not do for (more than one mode, weights with a heavy tail, more rows
    than `most_rows`) gets a `Comparison` of its own, with the estimator of `sgais.Comparison`.

    Args:
        models: At least one, by name. They must want the same columns. How formulas read rows is fixed by the first
            chunk, for all keys alike.
        key: The column that says whose a row is: text or whole numbers.
        seed: Determines every random number; that of a key does not depend on other keys.
        config: The estimator's parameters for keys that have one of their own.
        prior_odds: How probable each model is before any data, as positive numbers by name; all alike if omitted.
        most_rows: Of a key, up to which it is taken together with others.
        mean_rows_between_false_alarms: Of a key that never changes.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> room, x = np.repeat(["hall", "roof"], 50), generator.normal(size=(100, 1))
        >>> y = np.where(room == "roof", 1.0, 0.0) * x[:, 0] + generator.normal(size=100)
        >>> fleet = sgais.Fleet({"line": sgais.models.LinearRegression(dim=1)}, key="room")
        >>> record = fleet.update({"room": room, "x": x, "y": y})
        >>> fleet.table()["rows"].to_dict()
        {'hall': 50, 'roof': 50}
        >>> fleet["roof"].num_rows
        50
    """

    def __init__(
        self,
        models: Mapping[str, ModelLike],
        key: str,
        seed: int = 0,
        config: Config | None = None,
        prior_odds: Mapping[str, float] | None = None,
        most_rows: int = 2048,
        mean_rows_between_false_alarms: float = 1_000_000,
    ) -> None:
        is_mapping = isinstance(models, Mapping) and len(models) > 0
        require(is_mapping, "models", "be a dictionary of models by name", models)
        for model in models.values():
            require_model(model, "models")
        require(isinstance(key, str) and key != "", "key", "be the name of a column", key)
        is_seed = isinstance(seed, int | np.integer) and 0 <= seed < 2**32
        require(is_seed, "seed", "be a whole number from 0 to 2**32 - 1", seed)
        require(config is None or isinstance(config, Config), "config", "be a sgais.Config", config)
        require_count("most_rows", most_rows)
        mean_rows = mean_rows_between_false_alarms
        is_distance = is_number(mean_rows) and 0 < mean_rows < np.inf
        require(is_distance, "mean_rows_between_false_alarms", "be a positive number", mean_rows)
        self.names = tuple(str(name) for name in models)
        self.key, self.seed, self.config = key, int(seed), Config() if config is None else config
        self.most_rows, self.mean_rows_between_false_alarms = int(most_rows), float(mean_rows)
        self.log_odds = log_prior_odds(list(self.names), prior_odds)
        self._draws = ImportanceConfig()
        self._readers = Readers({str(name): model for name, model in models.items()}, key)
        self._index: dict[str, int] = {}
        self._rows, self._table = KeptRows(), KeyTable(columns_of(len(self.names)))
        self._particles = KeyTable({})
        self._alone = Alone(self.config, float(mean_rows))
        self._num_rows = 0
        self.alarms: list[FleetAlarm] = []
        self.switches: list[Switch] = []
        self._last: FleetRecord | None = None
        self.place, self.num_left_out = Place(), 0

    def take_in(self, chunk: object, num_bad_rows: int) -> FleetRecord:  # noqa: ARG002, the run loop's contract
        """What the run loop does with each chunk: all of `update`, but for where the stream stands behind it."""
        begun = time.perf_counter()
        rows, readers = self._readers.read(chunk)
        keys = self._with_room_for(rows.names, readers)
        seeds = self._seeds(rows.names)
        batch = self._batch(readers, rows, keys)
        groups = self._rows.joined(keys[batch], rows.rows, rows.starts[batch], rows.counts[batch])
        found = weighed(readers.models, self._draws, groups, seeds[batch], self._rows.outgrown(keys[batch], groups))
        ranks = self._ranks(readers, rows, keys, batch[found.is_trusted], seeds)
        own = np.setdiff1d(np.flatnonzero(self._table["kind"][keys] == TOGETHER), batch[found.is_trusted])
        promoted = {int(line): self._promoted(readers, rows, keys, int(line), seeds) for line in own}
        # All that may be refused has been by now.
        self._readers = readers
        num_new = self._accept_names(rows.names)
        leaders = self._table["leader"][keys]
        self._accept_batch(keys[batch], groups, found)
        alarms = self._accept_ranks(ranks, rows, keys, leaders) + self._accept_alone(promoted, rows, keys, leaders)
        switches = self._stand(rows.names, keys)
        self.alarms += alarms
        self.switches += switches
        counts = (num_new, len(keys), len(self._alone.members), len(self._alone.failures))
        seconds = time.perf_counter() - begun
        self._last = FleetRecord(self._num_rows, len(self), *counts, tuple(alarms), tuple(switches), seconds)
        return self._last

    def save(self, path: str | Path) -> None:
        """Write everything that the future depends on to a file; the one before stays as its previous generation."""
        checkpoint.write(path, self.saved(Path(path).parent))

    @classmethod
    def load(cls, path: str | Path, models: Mapping[str, ModelLike]) -> "Fleet":
        """Resume from a checkpoint, with the models that it was saved with: every later bit is as without a break."""
        with checkpoint.offering_previous(path):
            content = checkpoint.read(path, SAVED_TYPES)
            checkpoint.require_part(path, content, "keys", cls.__name__)
            return cls.restored(content, models, Path(path).parent)

    def saved(self, folder: Path) -> dict[str, Any]:
        """What a checkpoint in a folder holds of it."""
        if self._last is None:
            raise SgaisError("there is nothing to save before the first chunk. Push one first.")
        arguments = {"key": self.key, "seed": self.seed, "config": self.config, "prior_odds": self.log_odds}
        limits = {"most_rows": self.most_rows, "mean_rows_between_false_alarms": self.mean_rows_between_false_alarms}
        return {
            "arguments": arguments | limits,
            "keys": list(self._index),
            "readers": self._readers.state(),
            "rows": self._rows.state(),
            "table": self._table.state(),
            "particles": self._particles.state(),
            "alone": self._alone.state(folder),
            "alarms": [list(alarm) for alarm in self.alarms],
            "switches": [list(switch) for switch in self.switches],
            "num_rows": self._num_rows,
            "place": self.place,
        }

    @classmethod
    def restored(cls, content: dict[str, Any], models: Mapping[str, ModelLike], folder: Path) -> "Fleet":
        """What was saved with a checkpoint in this folder."""
        said = dict(content["arguments"])
        log_odds = said.pop("prior_odds")
        given = {str(name): model for name, model in models.items()}
        require(set(given) == set(log_odds), "models", f"have the names that were saved, {list(log_odds)}", list(given))
        in_order = {name: given[name] for name in log_odds}
        fleet = cls(in_order, said.pop("key"), said.pop("seed"), said.pop("config"), None, **said)
        fleet.log_odds = log_odds
        fleet._readers = fleet._readers.restored(content["readers"])
        fleet._index = {name: number for number, name in enumerate(content["keys"])}
        fleet._rows = KeptRows.restored(content["rows"])
        fleet._table.restore(content["table"])
        fleet._particles = _particles_of(fleet._readers)
        fleet._particles.restore(content["particles"])
        fleet._alone.restore(content["alone"], fleet._readers.models, folder)
        fleet.alarms = [FleetAlarm(*alarm) for alarm in content["alarms"]]
        fleet.switches = [Switch(*switch) for switch in content["switches"]]
        fleet._num_rows = content["num_rows"]
        fleet.place = replace(content["place"], is_resumed=True)
        counts = (0, 0, len(fleet._alone.members), len(fleet._alone.failures))
        fleet._last = FleetRecord(fleet._num_rows, len(fleet), *counts, (), (), 0.0)
        return fleet

    def _with_room_for(self, names: list[str], readers: Readers) -> np.ndarray:
        """The number of each key; new ones come behind those that are known."""
        numbers, known = [], len(self._index)
        for name in names:
            number = self._index.get(name)
            numbers.append(known if number is None else number)
            known += number is None
        if not self._index:
            self._particles = _particles_of(readers)
        for part in (self._rows, self._table, self._particles):
            part.grow(known)
        return np.array(numbers, np.int64)

    def _seeds(self, names: list[str]) -> np.ndarray:
        return np.array([self._seed_of(name) for name in names], np.int64)

    def _batch(self, readers: Readers, rows: KeyedChunk, keys: np.ndarray) -> np.ndarray:
        """The lines of the chunk's keys that are taken together."""
        if not can_be_together(readers.models):
            return np.zeros(0, np.int64)
        is_short = self._rows.counts[keys] + rows.counts <= self.most_rows
        return np.flatnonzero((self._table["kind"][keys] == TOGETHER) & is_short)

    def _ranks(
        self, readers: Readers, rows: KeyedChunk, keys: np.ndarray, lines: np.ndarray, seeds: np.ndarray
    ) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """For each model that can predict: its number, lines of the chunk's keys, and their ranks."""
        lines = lines[self._rows.counts[keys[lines]] > 0]
        found = []
        for number, (name, model) in enumerate(readers.models.items()):
            if model.predictive is not None and len(lines):
                draws = [seeds_of(seeds[lines], name), np.full(len(lines), PURPOSE), self._rows.counts[keys[lines]]]
                particles = self._particles[name][keys[lines]]
                random_keys = np.stack(draws, axis=1).astype(np.uint32)
                found.append((number, lines, ranks_of(model, particles, rows, lines, random_keys)))
        return found

    def _promoted(
        self, readers: Readers, rows: KeyedChunk, keys: np.ndarray, line: int, seeds: np.ndarray
    ) -> Comparison | str:
        """A comparison of its own for a key, or why there can be none."""
        so_far = rows.of(line)
        if self._rows.counts[keys[line]]:
            old = self._rows.of(int(keys[line]))
            so_far = {name: np.concatenate([old[name], values]) for name, values in so_far.items()}
        return self._alone.begun(readers.models, self.log_odds, int(seeds[line]), so_far)

    def _accept_names(self, names: list[str]) -> int:
        before = len(self._index)
        for name in names:
            self._index.setdefault(name, len(self._index))
        return len(self._index) - before

    def _accept_batch(self, keys: np.ndarray, groups: list[Group], found: Weighed) -> None:
        for lines, rows in groups:
            good = np.flatnonzero(found.is_trusted[lines])
            kept = KeyedRows({name: values[good] for name, values in rows.columns.items()}, rows.counts[good])
            self._rows.put(keys[lines[good]], kept)
        good = np.flatnonzero(found.is_trusted)
        self._table["log_evidence"][keys[good]] = found.log_evidences[good]
        self._table["error"][keys[good]] = found.errors[good]
        for name, particles in zip(self.names, found.particles, strict=True):
            self._particles[name][keys[good]] = particles[good]

    def _accept_ranks(
        self, found: list[tuple[int, np.ndarray, np.ndarray]], rows: KeyedChunk, keys: np.ndarray, leaders: np.ndarray
    ) -> list[FleetAlarm]:
        """Let the detectors see the chunk; the alarms."""
        table, alarms = self._table, []
        is_failed = table["kind"][keys] == FAILED
        taken = np.where(is_failed, 0, rows.counts)
        self.num_left_out += int(rows.counts[is_failed].sum())
        self._num_rows += int(taken.sum())
        table["num_rows"][keys] += taken
        table["num_chunks"][keys] += ~is_failed
        table["last_row"][keys] = self._num_rows
        for number, lines, ranks in found:
            own = keys[lines]
            watch.show(table, own, number, ranks, table["num_rows"][own], rows.counts[lines])
        watched = found[0][1] if found else np.zeros(0, np.int64)
        for each in watch.raised(table, keys[watched], leaders[watched], self.mean_rows_between_false_alarms):
            line = watched[each.line]
            model, num_rows = self.names[leaders[line]], int(table["num_rows"][keys[line]])
            alarms.append(FleetAlarm(rows.names[line], model, num_rows, each.location, each.sign))
        return alarms

    def _accept_alone(
        self, promoted: dict[int, Comparison | str], rows: KeyedChunk, keys: np.ndarray, leaders: np.ndarray
    ) -> list[FleetAlarm]:
        """What the chunk does to keys that have a comparison of their own, and to those that get one; the alarms."""
        alarms = []
        for line in np.flatnonzero(self._table["kind"][keys] == ALONE).tolist():
            alarm = self._alone.updated(int(keys[line]), rows.of(line), self.names[leaders[line]])
            alarms += [] if alarm is None else [FleetAlarm(rows.names[line], *alarm)]
        for line, member in promoted.items():
            self._alone.accept(int(keys[line]), member)
            self._rows.drop(keys[[line]])
        for key in keys:
            if key in self._alone:
                self._table["kind"][key] = FAILED if int(key) in self._alone.failures else ALONE
                self._table["log_evidence"][key], self._table["error"][key] = self._alone.evidences(
                    int(key), self.names
                )
        return alarms

    def _stand(self, names: list[str], keys: np.ndarray) -> list[Switch]:
        """Who leads now, and where that is somebody else, beyond doubt, than before."""
        table, switches = self._table, []
        probabilities, lows, _ = self._probabilities(keys)
        leaders = probabilities.argmax(axis=1)
        is_sure = (lows[np.arange(len(keys)), leaders] > SEPARATED) & (len(self.names) > 1)
        before = table["sure_leader"][keys]
        for line in np.flatnonzero(is_sure & (before != NOBODY) & (before != leaders)):
            row = int(table["num_rows"][keys[line]])
            switches.append(Switch(names[line], self.names[before[line]], self.names[leaders[line]], row))
        table["leader"][keys], table["sure_leader"][keys] = leaders, np.where(is_sure, leaders, before)
        return switches


def _particles_of(readers: Readers) -> KeyTable:
    shapes = {name: (NUM_PARTICLES, model.dimension) for name, model in readers.models.items()}
    return KeyTable({name: Column(shape, real_dtype()) for name, shape in shapes.items()})
