"""What an error is made of, and how it is written."""

import math

from sgais.estimators.base import Info
from sgais.results.error_budget import error_budget, in_words
from sgais.results.record import EvidenceRecord

NUMBERS = dict.fromkeys(EvidenceRecord._fields, 0) | {"standard_error": 0.25, "kernel_bias": -0.5, "warning": ""}


def test_modes_are_said_where_something_suggests_them():
    doubtful = EvidenceRecord(**(NUMBERS | {"mode_doubt": 3.0}))
    assert error_budget(doubtful) == {"Monte Carlo": 0.25, "kernel": 0.5, "modes": 3.0}
    assert in_words(error_budget(doubtful)) == " ± 0.25 Monte Carlo ± 0.50 kernel ± 3.00 modes"


def test_nothing_is_said_of_modes_where_nothing_suggests_them():
    assert in_words(error_budget(EvidenceRecord(**NUMBERS))) == " ± 0.25 Monte Carlo ± 0.50 kernel"
    assert error_budget(None) == {"Monte Carlo": 0.0, "kernel": 0.0, "modes": 0.0}


def test_what_is_not_known_is_a_question_mark():
    assert in_words({"Monte Carlo": math.nan, "modes": math.nan}) == " ± ? Monte Carlo ± ? modes"


def test_estimators_need_not_say_anything_of_modes():
    assert Info(1, 1, 1.0, 1.0, 1.0, 1.0, 1, 0).mode_doubt == 0.0
