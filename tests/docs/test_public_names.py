"""Every public name has a page in the reference, and an example there that runs."""

import doctest
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import sgais

SITE = Path(__file__).parents[2] / "docs" / "site"
REFERENCE = SITE.parent / "reference" / "README.md"
sys.path.insert(0, str(SITE))
from extensions.public_names import public_names  # noqa: E402 (the list that the site is made of)

NAMES = dict(public_names())
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SLOW = {"sgais.glm", "sgais.plots.prior_sensitivity"}  # they compile regressions from formulas


def marked():
    return [pytest.param(name, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NAMES]


def test_the_reference_lists_every_public_name():
    listed = re.findall(r"^   (sgais\.[\w.]+)$", REFERENCE.read_text(), flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert sorted(set(NAMES) - set(listed)) == []


def test_no_public_name_is_forgotten():
    """What a user can reach from `sgais` is public, unless it is a module of the inside."""
    from_all = {f"sgais.{name}" for name in sgais.__all__ if not inspect.ismodule(getattr(sgais, name))}
    assert from_all <= set(NAMES)
    assert len(NAMES) > 70


@pytest.mark.parametrize("name", marked())
def test_the_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(NAMES[name]) or ""
    example = doctest.DocTestParser().get_doctest(text, {"sgais": sgais, "np": np}, name, None, 0)
    assert example.examples, f"{name} has no example"
    failures = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(example, out=failures.append)
    assert not failures, "".join(failures)
