"""Are visits to the doctor Poisson? A count model, from formulas.

1500 person-years of the RAND health insurance experiment, drawn at random (statsmodels). The other method is
statsmodels: half the difference of BIC, from maximum likelihood.
"""

import statsmodels.formula.api as smf
from statsmodels.datasets import randhie

import sgais

FORMULA = "mdvis ~ lncoins + physlm + disea"

frame = randhie.load_pandas().data.sample(1500, random_state=0)
families = ("poisson", "negative-binomial")
comparison = sgais.Comparison({family: sgais.glm(FORMULA, family=family) for family in families})
for start in range(0, len(frame), 500):
    comparison.update(frame[start : start + 500])
print(comparison)

bics = {
    "poisson": smf.poisson(FORMULA, frame).fit(disp=0).bic,
    "negative-binomial": smf.negativebinomial(FORMULA, frame).fit(disp=0, maxiter=200).bic,
}
standings = comparison.last_record.models
gain = standings["negative-binomial"].log_evidence - standings["poisson"].log_evidence
other = (bics["poisson"] - bics["negative-binomial"]) / 2
print(f"negative-binomial over poisson: {gain:.1f} nats; statsmodels' BIC says {other:.1f}")
best = "negative-binomial" if gain > 0 else "poisson"
print(f"Conclusion: the {best} family is better; BIC {'confirms' if gain * other > 0 else 'contradicts'} it.")
