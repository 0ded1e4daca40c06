"""What a text on the command line means."""

import pytest

import sgais
from sgais.cli.arguments.model_specs import READY, model_of, named_specs
from sgais.errors import ConfigError, ModelError


@pytest.mark.parametrize(
    ("spec", "columns", "model"),
    [
        ("linear-regression:dim=3", {}, sgais.models.LinearRegression(dim=3)),
        ("linear-regression:noise_scale=2", {"x": ["a", "b"]}, sgais.models.LinearRegression(2, noise_scale=2.0)),
        ("linear-regression:features=0,2,dim=3", {}, sgais.models.LinearRegression(3, features=(0, 2))),
        ("linear-regression:features=1", {"x": ["a", "b"]}, sgais.models.LinearRegression(2, features=(1,))),
        ("logistic-regression:classes=4", {"x": ["a"]}, sgais.models.LogisticRegression(dim=1, classes=4)),
        ("gaussian-mixture:components=5", {"y": ["a", "b"]}, sgais.models.GaussianMixture(5, dim=2)),
        ("gaussian-mixture:components=5", {"y": "a"}, sgais.models.GaussianMixture(5, dim=1)),
        ("auto-regression:order=2", {"y": "price"}, sgais.models.AutoRegression(order=2)),
    ],
)
def test_ready_models(spec, columns, model):
    assert model_of(spec, columns) == model


def test_names():
    specs = ["five=gaussian-mixture:components=5", "linear-regression:dim=2", "mine=mymodels.py:model"]
    assert named_specs(specs) == {
        "five": "gaussian-mixture:components=5",
        "linear-regression:dim=2": "linear-regression:dim=2",
        "mine": "mymodels.py:model",
    }


def test_files_and_modules(tmp_path, monkeypatch):
    (tmp_path / "some_models.py").write_text(
        "import sgais\n"
        "ready = sgais.models.LinearRegression(dim=2)\n"
        "def factory():\n    return ready\n"
        "def program(x, y):\n    pass\n"
        "number = 3\n"
        "def broken():\n    raise RuntimeError('no model')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [])
    ready = sgais.models.LinearRegression(dim=2)
    assert model_of("some_models.py:ready", {}) == model_of("some_models:factory", {}) == ready
    assert "program" in repr(model_of("some_models:program", {}))
    with pytest.raises(ModelError, match="must be a sgais.Model, a PyMC model or a NumPyro model, got a int"):
        model_of("some_models:number", {})
    with pytest.raises(ModelError, match="RuntimeError: no model"):
        model_of("some_models:broken", {})
    with pytest.raises(ConfigError, match="'ready'"):
        model_of("some_models:read", {})


def test_every_ready_model_has_a_name():
    assert {ready.kind for ready in READY.values()} == {getattr(sgais.models, name) for name in sgais.models.__all__}
