"""How many kinds of firms are there, by the logarithm of their value? A scan over mixtures.

Grunfeld's data: 220 values of 11 firms (statsmodels). The other method is nested sampling, on the best two numbers.
"""

import numpy as np
from statsmodels.datasets import grunfeld

import sgais

values = np.log(grunfeld.load_pandas().data["value"].to_numpy())
rows = {"y": np.random.default_rng(0).permutation(values)}
comparison = sgais.Comparison(sgais.mixtures(range(1, 4), like=rows))
comparison.update(rows)
print(comparison)

standings = comparison.last_record.models
second, best = sorted(standings, key=lambda name: standings[name].log_evidence)[-2:]
gain = standings[best].log_evidence - standings[second].log_evidence
models = sgais.mixtures(range(1, 4), like=rows)
nested = {name: sgais.estimate(models[name], rows, method="nested") for name in (second, best)}
other = nested[best].log_evidence - nested[second].log_evidence
error = np.hypot(nested[best].standard_error, nested[second].standard_error)
print(f"{best} over {second}: {gain:.2f} nats; nested sampling says {other:.2f} ± {error:.2f}")
verdict = "leaves it open" if abs(other) < 2 * error else "confirms it" if other > 0 else "contradicts it"
print(f"Conclusion: {best} is the most probable of the three; nested sampling {verdict}.")
