"""The ready models; `sgais.models` has their names."""
