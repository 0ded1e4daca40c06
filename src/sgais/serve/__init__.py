"""`sgais serve`: a service that takes observations in, keeps the models' evidence current, and shows it in a browser.

From the outside in: `http/server.py` (a socket, uvicorn) → `app.py` (routes) → `intake/` (rows in) and `board/`
(what is shown) → `worker.py`, the one thread that owns the comparison. Rows go through the write-ahead log
(`log/`): what is in it has been acknowledged, and the worker reads it like a file.
"""
