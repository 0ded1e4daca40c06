"""Do firms differ in more than their value and capital? A regression with groups, from formulas.

Grunfeld's data: 11 American firms over 20 years (statsmodels). Three formulas are compared by evidence; the other
method is statsmodels: half the difference of BIC, from maximum likelihood.
"""

import statsmodels.formula.api as smf
from statsmodels.datasets import grunfeld

import sgais

FORMULAS = {
    "value": "invest ~ value",
    "both": "invest ~ value + capital",
    "groups": "invest ~ value + capital + (1 | firm)",
}

frame = grunfeld.load_pandas().data
comparison = sgais.Comparison({name: sgais.glm(formula) for name, formula in FORMULAS.items()})
comparison.update(frame.sample(frac=1.0, random_state=0))  # rows in random order: every firm is among the first
print(comparison)

fits = {name: smf.ols(FORMULAS[name], frame).fit() for name in ("value", "both")}
bics = {name: fit.bic for name, fit in fits.items()}
bics["groups"] = smf.mixedlm(FORMULAS["both"], frame, groups="firm").fit(reml=False).bic
log_evidences = {name: standing.log_evidence for name, standing in comparison.last_record.models.items()}
for less, more in (("value", "both"), ("both", "groups")):
    gain, other = log_evidences[more] - log_evidences[less], (bics[less] - bics[more]) / 2
    print(f"{more} over {less}: {gain:.1f} nats; statsmodels' BIC says {other:.1f}")

best, by_bic = max(log_evidences, key=lambda name: log_evidences[name]), min(bics, key=lambda name: bics[name])
print(f"Conclusion: '{best}' predicts best; BIC {'confirms' if by_bic == best else 'contradicts'} it ('{by_bic}').")
