"""Regression models from formulas: `sgais.glm`."""
