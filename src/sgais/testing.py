"""For authors of models: the checks of `sgais check`, to be called from their own tests."""

from sgais.errors import ModelError
from sgais.models.base import ModelLike, require_model
from sgais.models.checks import Finding, findings_of, made_up_rows

__all__ = ["Finding", "check_model"]


def check_model(model: ModelLike, data: object | None = None) -> tuple[Finding, ...]:
    """Refuse a model that is not sound.

    Looked at are shapes, values at draws from the prior, gradients against finite differences, float32 against float64,
    and whether rows are independent; speed is measured. In a test of yours, `sgais.testing.check_model(model, data)` is
    enough.

    Args:
        model: As for `OnlineEvidence`.
        data: Some rows: a dictionary of arrays, or one array (which means `{"y": array}`). Ready models can do without.

    Returns:
        What was found, each with its name, `what`, and a sentence, `detail`.

    Example:
        >>> findings = sgais.testing.check_model(sgais.models.LinearRegression(dim=2))
        >>> all(finding.is_good for finding in findings)
        True
    """
    require_model(model)
    rows = made_up_rows(model) if data is None else data
    findings = tuple(findings_of(model, rows))
    if wrong := [f"{finding.what}: {finding.detail}" for finding in findings if not finding.is_good]:
        raise ModelError(f"`model` must be sound, got {model!r} with {'; '.join(wrong)}.")
    return findings
