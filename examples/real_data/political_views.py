"""What goes with where people place themselves between left and right? An ordinal outcome, from formulas.

944 people of the American National Election Study of 1996 (statsmodels), views from 1 (left) to 7 (right). The other
method is statsmodels: half the difference of BIC, from maximum likelihood.
"""

import numpy as np
from statsmodels.datasets import anes96
from statsmodels.miscmodels.ordinal_model import OrderedModel

import sgais

COLUMNS = {"age": ["age"], "age, income": ["age", "income"], "age, income, education": ["age", "income", "educ"]}

frame = anes96.load_pandas().data.sample(frac=1.0, random_state=0)
models = {
    name: sgais.glm(f"selfLR ~ {' + '.join(columns)}", family="ordinal", levels={"selfLR": list(range(1, 8))})
    for name, columns in COLUMNS.items()
}
comparison = sgais.Comparison(models)
comparison.update(frame)
print(comparison)

bics = {}
for name, columns in COLUMNS.items():
    inputs = (frame[columns] - frame[columns].mean()) / frame[columns].std()
    fit = OrderedModel(frame["selfLR"].astype(int), inputs, distr="logit").fit(method="bfgs", disp=0)
    bics[name] = -2 * fit.llf + len(fit.params) * np.log(len(frame))
log_evidences = {name: standing.log_evidence for name, standing in comparison.last_record.models.items()}
for less, more in zip(list(COLUMNS)[:-1], list(COLUMNS)[1:], strict=True):
    gain, other = log_evidences[more] - log_evidences[less], (bics[less] - bics[more]) / 2
    print(f"{more} over {less}: {gain:.1f} nats; statsmodels' BIC says {other:.1f}")

best, by_bic = max(log_evidences, key=lambda name: log_evidences[name]), min(bics, key=lambda name: bics[name])
print(f"Conclusion: '{best}' predicts best; BIC {'confirms' if by_bic == best else 'contradicts'} it ('{by_bic}').")
