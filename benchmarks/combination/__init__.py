"""How well do weighted models predict? Three ways to weight them, each model alone, and the best in hindsight."""
