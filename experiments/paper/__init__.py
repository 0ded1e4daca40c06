"""The paper, reproduced by one command: `python -m experiments.paper`, or `make paper`.

settings.py       how much of it is run: quick, or as published
task.py           one run: model, method, rows, parameters, seed
execution.py      how a run is made
cache.py          where it is kept and found again
runner.py         all runs that are missing, in parallel or alone
figure1.py ... headline.py   one experiment each: its runs, its table, its figures, what is found
findings.py       claims of the paper, and what our numbers say of them
report.py         all of it, on one page
"""
