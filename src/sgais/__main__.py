"""`python -m sgais` is the command `sgais`."""

from sgais.cli.entry import main

if __name__ == "__main__":
    main()
