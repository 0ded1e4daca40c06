"""A client that posts rows from a thread, batch after batch, and again where no answer came, as it should."""

import http.client
import json
import threading
import time

from served import JSON, as_rows

WAIT = 0.05  # seconds before a batch is sent again


class Load:
    """Posts the rows of some data in order, each batch under a key of its own.

    Attributes:
        acknowledged: Rows whose acknowledgment has come.
        statuses: How often each status was answered.
    """

    def __init__(self, data, batch_rows, num_batches, pause=0.0):
        self._data, self._batch_rows, self._num_batches, self._pause = data, batch_rows, num_batches, pause
        self.acknowledged, self.statuses, self.port = 0, {}, None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, port):
        self.port = port
        self._thread.start()
        return self

    def join(self, seconds=300):
        self._thread.join(seconds)
        assert not self._thread.is_alive(), self.statuses

    def _run(self):
        for number in range(self._num_batches):
            start = number * self._batch_rows
            body = json.dumps(as_rows(self._data, start, start + self._batch_rows))
            while not self._post(body, f"batch-{number}"):
                time.sleep(WAIT)
            self.acknowledged += self._batch_rows
            time.sleep(self._pause)

    def _post(self, body, key):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", "/observations", body, {"Content-Type": JSON, "Idempotency-Key": key})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return False  # it was killed: nobody knows whether the batch was taken
        finally:
            connection.close()
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        return answer.status in (200, 201)
