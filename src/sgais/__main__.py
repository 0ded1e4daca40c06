"""`python -m sgais` is the command `sgais`."""

from sgais.cli import app

if __name__ == "__main__":
    app(prog_name="sgais")
