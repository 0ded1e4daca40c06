"""`sgais serve`: a service that takes observations in, keeps the models' evidence current, and shows it in a browser.

From the outside in: `server.py` (a socket, uvicorn, signals) → `app.py` (routes) → `intake.py` (rows in) and `board.py`
(what is shown) → `worker.py`, the one thread that owns the comparison. Rows go through the write-ahead log
(`row_log.py`): what is in it has been acknowledged, and the worker reads it like a file.
"""
