"""Any Python iterable of rows: here a generator, as a subscription or a sensor would be."""

from collections.abc import Iterator

import sgais


def people() -> Iterator[dict[str, float]]:
    """One row at a time."""
    data = sgais.simulate.linear_regression(num_rows=600, dim=2).data
    for (height, age), weight in zip(data["x"], data["y"], strict=True):
        yield {"height": height, "age": age, "weight": weight}


evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
for chunk in sgais.stream(people(), chunk_size=200, x=["height", "age"], y="weight"):
    evidence.update(chunk)
print(evidence)
