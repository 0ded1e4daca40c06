"""Fleets against exact evidences, against themselves cut otherwise, and against keys that change."""

import numpy as np
import pandas as pd
import pytest

import sgais
from sgais.errors import ConfigError, DataError
from sgais.models import GaussianMixture, LinearRegression

MODELS = {"one": LinearRegression(dim=2, features=(0,)), "both": LinearRegression(dim=2)}
NUM_KEYS, ROWS = 40, 60
FIRST = 20  # keys, of which only one feature counts


def rows_of(num_keys, rows, seed=0):
    """Rows of many keys, in random order."""
    generator = np.random.default_rng(seed)
    keys = generator.permutation(np.repeat(np.arange(num_keys), rows))
    weights = generator.choice([-1.5, -1.0, 1.0, 1.5], size=(num_keys, 2))
    weights[:FIRST, 1] = 0.0
    x = generator.normal(size=(len(keys), 2))
    y = (x * weights[keys]).sum(axis=1) + generator.normal(size=len(keys))
    return {"sensor": np.array([f"s{key}" for key in keys]), "x": x, "y": y}


DATA = rows_of(NUM_KEYS, ROWS)


def fed(data, chunk, **options):
    fleet = sgais.Fleet(MODELS, key="sensor", **options)
    for start in range(0, len(data["y"]), chunk):
        fleet.update({name: values[start : start + chunk] for name, values in data.items()})
    return fleet


@pytest.fixture(scope="module")
def fleet():
    return fed(DATA, 800)


def test_evidences_are_exact_within_errors(fleet):
    frame = fleet.to_frame()
    scores = []
    for name, model in MODELS.items():
        for line in frame[frame["model"] == name].itertuples():
            own = DATA["sensor"] == line.sensor
            exact = model.log_evidence({"x": DATA["x"][own], "y": DATA["y"][own]})
            scores.append((line.log_evidence - exact) / line.standard_error)
    scores = np.array(scores)
    assert len(scores) == 2 * NUM_KEYS
    # The mean square of 80 Gaussian scores has a standard deviation of 0.16.
    assert 0.5 < np.mean(scores**2) < 1.6
    assert np.abs(scores).max() < 4.5
    assert frame["standard_error"].max() < 0.1


def test_each_key_has_its_model(fleet):
    table = fleet.table()
    assert len(fleet) == len(table) == NUM_KEYS
    assert fleet.num_rows == table["rows"].sum() == NUM_KEYS * ROWS
    leads_both = table["leader"] == "both"
    assert leads_both[[f"s{key}" for key in range(FIRST, NUM_KEYS)]].all()
    assert leads_both[[f"s{key}" for key in range(FIRST)]].mean() < 0.2
    assert "40 keys, 2,400 rows" in str(fleet)
    assert fleet._repr_html_().count("<tr>") == 21  # a line of names, and the keys to which most has happened


def test_neither_chunks_nor_other_keys_matter(fleet):
    """Log Z of a key is a function of its rows and the seed, to the bit."""
    other = fed(DATA, 333)
    own = DATA["sensor"] == "s7"
    alone = fed({name: values[own] for name, values in DATA.items()}, 1000)
    expected = fleet.to_frame().set_index(["sensor", "model"])[["log_evidence", "standard_error"]].sort_index()
    assert other.to_frame().set_index(["sensor", "model"])[expected.columns].sort_index().equals(expected)
    assert alone.to_frame().set_index(["sensor", "model"])[expected.columns].sort_index().equals(expected.loc[["s7"]])


def test_a_key_is_a_comparison(fleet):
    comparison = fleet["s30"]
    assert isinstance(comparison, sgais.Comparison)
    line = fleet.table().loc["s30"]
    assert comparison.standings["both"].log_evidence == line["log_evidence"]
    assert comparison.probabilities["both"] == line["probability"]
    assert comparison.num_rows == ROWS
    assert comparison["both"].summary().loc["weights[0]", "sd"] < 0.3
    assert comparison.predict({"x": np.zeros((1, 2))}).mean.shape == (1,)
    comparison.update({"x": np.zeros((5, 2)), "y": np.zeros(5)})
    assert fleet["s30"].num_rows == ROWS
    with pytest.raises(ConfigError, match="had rows"):
        fleet["s99"]


def test_it_goes_on_bit_for_bit(tmp_path):
    fleet = sgais.Fleet(MODELS, key="sensor", seed=3)
    fleet.run(
        sgais.stream(
            {name: values[:1200] for name, values in DATA.items() if name != "sensor"}
            | {"sensor": np.array([int(key[1:]) for key in DATA["sensor"][:1200]])},
            500,
        )
    )
    fleet.save(tmp_path / "fleet")
    with pytest.raises(ConfigError, match="names that were saved"):
        sgais.Fleet.load(tmp_path / "fleet", {"one": MODELS["one"]})
    loaded = sgais.Fleet.load(tmp_path / "fleet", dict(reversed(MODELS.items())))
    assert loaded.table().equals(fleet.table())
    rest = {name: values[1200:] for name, values in DATA.items()} | {
        "sensor": np.array([int(key[1:]) for key in DATA["sensor"][1200:]])
    }
    records = [each.update(rest)._replace(seconds=0.0) for each in (fleet, loaded)]
    assert records[0] == records[1]
    assert loaded.table().equals(fleet.table())
    assert loaded.to_frame().equals(fleet.to_frame())


def test_keys_that_change_raise_alarms_and_switch_models():
    generator = np.random.default_rng(5)
    num_keys, chunk, changed = 32, 10, 12
    fleet = sgais.Fleet(MODELS, key="sensor", mean_rows_between_false_alarms=100_000)
    keys = np.repeat(np.arange(num_keys), chunk)
    for number in range(24):
        weights = np.tile([1.0, 0.0], (num_keys, 1))
        if number >= 12:
            weights[:changed] = [1.0, 0.6]
        x = generator.normal(size=(len(keys), 2)) * [1.0, 5.0]
        y = (x * weights[keys]).sum(axis=1) + generator.normal(size=len(keys))
        fleet.update({"sensor": keys, "x": x, "y": y})
    true = {str(key) for key in range(changed)}
    assert {alarm.key for alarm in fleet.alarms} == true  # 20 keys of 240 rows: a false alarm has a chance of 5 %
    assert {switch.key for switch in fleet.switches} <= true  # not where nobody was sure before
    assert len(fleet.switches) > changed / 2
    assert all((switch.before, switch.after) == ("one", "both") for switch in fleet.switches)
    first = {alarm.key: alarm for alarm in reversed(fleet.alarms)}
    assert all(120 < alarm.row <= 180 and alarm.sign == -1 for alarm in first.values())
    assert np.median([abs(alarm.location - 120) for alarm in first.values()]) <= 2 * chunk
    assert (fleet.table()["alarms"] > 0).sum() == changed
    assert fleet.alarms_of("3")[0] == first["3"]


def test_keys_that_outgrow_the_batch_get_an_estimator_of_their_own(tmp_path):
    fleet = sgais.Fleet(MODELS, key="sensor", most_rows=100)
    own = np.isin(DATA["sensor"], ["s1", "s25"])
    data = {name: values[own] for name, values in DATA.items()}
    fleet.update(data)
    assert fleet.last_record.num_alone == 0
    more = rows_of(2, 60, seed=9) | {"sensor": np.array(["s1"] * 60 + ["s25"] * 10 + ["s26"] * 50)}
    record = fleet.update(more)
    assert (record.num_alone, record.num_new) == (1, 1)
    assert fleet.table().loc["s1", "kept"] == "alone"
    rows = data["sensor"] == "s1"
    both = {name: np.concatenate([data[name][rows], more[name][:60]]) for name in ("x", "y")}
    standing = fleet["s1"].standings["both"]
    assert abs(standing.log_evidence - MODELS["both"].log_evidence(both)) < 5 * standing.standard_error
    fleet.save(tmp_path / "fleet")
    loaded = sgais.Fleet.load(tmp_path / "fleet", MODELS)
    more["sensor"] = np.array(["s1"] * 120)
    fleet.update(more)
    loaded.update(more)
    assert fleet.to_frame().equals(loaded.to_frame())


def test_models_with_labels_are_not_taken_together():
    generator = np.random.default_rng(2)
    fleet = sgais.Fleet({"two": GaussianMixture(components=2)}, key="key", config=sgais.Config(num_particles=64))
    fleet.update({"key": np.repeat([1, 2], 40), "y": generator.normal(size=(80, 1))})
    assert fleet.last_record.num_alone == 2
    assert (fleet.table()["kept"] == "alone").all()


def test_formulas_read_all_keys_alike(tmp_path):
    names = {"key": DATA["sensor"], "a": DATA["x"][:, 0], "b": DATA["x"][:, 1], "y": DATA["y"]}
    frame = pd.DataFrame(names)[lambda rows: rows["key"].isin(["s2", "s30", "s31"])]
    models = {"both": sgais.glm("y ~ a + b", scales={"y": (0.0, 1.0)})}
    fleet = sgais.Fleet(models, key="key")
    assert set(fleet.fields) == {"y", "a", "b", "key"}
    fleet.update(frame[:120])
    fleet.save(tmp_path / "fleet")
    loaded = sgais.Fleet.load(tmp_path / "fleet", models)
    fleet.update(frame[120:])
    loaded.update(frame[120:])
    assert fleet.to_frame().equals(loaded.to_frame())
    assert fleet.table()["kept"].eq("together").all()
    slopes = fleet["s30"]["both"].summary()
    assert len(slopes) == 4  # an intercept, two slopes and the scale of the noise


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sensor": None}, "column of keys"),
        ({"sensor": np.array([0.5] * 4)}, "a key in every row"),
        ({"sensor": np.array(["a", "b", "c", None], object)}, "row 3"),
        ({"sensor": np.arange(3)}, "equal length|key for each row"),
        ({"y": np.array([1.0, np.nan, 0.0, 0.0])}, "must be finite"),
    ],
)
def test_bad_chunks_change_nothing(changes, says):
    fleet = sgais.Fleet(MODELS, key="sensor")
    chunk = {"sensor": np.arange(4), "x": np.zeros((4, 2)), "y": np.zeros(4)} | changes
    chunk = {name: values for name, values in chunk.items() if values is not None}
    with pytest.raises(DataError, match=says):
        fleet.update(chunk)
    assert (len(fleet), fleet.num_rows) == (0, 0)


def test_arguments_are_checked():
    with pytest.raises(ConfigError, match="`models`"):
        sgais.Fleet({}, key="sensor")
    with pytest.raises(ConfigError, match="`key`"):
        sgais.Fleet(MODELS, key="")
    with pytest.raises(ConfigError, match="`mean_rows"):
        sgais.Fleet(MODELS, key="sensor", mean_rows_between_false_alarms=0)
