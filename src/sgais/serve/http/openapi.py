"""The OpenAPI document of the service."""

from typing import Any

from sgais.serve.http.metrics import CONTENT_TYPE
from sgais.serve.intake.bodies import ARROW, JSON, NDJSON
from sgais.serve.limits import Limits
from sgais.streams.cleaning.mapping import ColumnMapping

Json = dict[str, Any]
NUMBER_OR_NULL: Json = {"type": ["number", "null"]}
NUMBERS: Json = {"type": "array", "items": NUMBER_OR_NULL}
LARGEST_ROW = 10**15 - 1
MEANINGS = {
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another site.",
    408: "The body did not come in time.",
    409: "There is nothing to predict from yet, or the key is in use.",
    413: "The body has too many bytes or rows.",
    415: "The content type is not one of those listed.",
    421: "The request names another host.",
    422: "Rows are bad: the answer names row and column, and nothing of the batch was accepted.",
    429: "Too many rows wait, or too many requests come. Try again after Retry-After seconds.",
    503: "The service cannot do this now.",
    507: "There is no room on the disk of the service.",
}
EVERYWHERE = (400, 403, 421, 429)


def document(limits: Limits, mapping: ColumnMapping | None, needs_token: bool, takes_rows: bool) -> Json:
    """The document; `mapping` are the columns of a batch, as far as they are known."""
    paths = {
        "/health": {"get": _operation("health", "Is the service well?", {200: _json(_HEALTH), 503: _json(_HEALTH)})},
        "/openapi.json": {
            "get": _operation("openapi", "This document.", {200: _json({"type": "object"})}, needs_token)
        },
        "/state": {"get": _operation("state", "Where the models stand.", {200: _json(_STATE)}, needs_token)},
        "/records": {"get": _records(needs_token)},
        "/events": {"get": _events(needs_token)},
        "/metrics": {"get": _operation("metrics", "For Prometheus.", {200: _text(CONTENT_TYPE)}, needs_token)},
    }
    if takes_rows:
        paths["/observations"] = {"post": _observations(limits, mapping, needs_token)}
        paths["/predict"] = {"post": _predict(mapping, needs_token)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "sgais", "version": "1", "description": "Bayesian evidence while the data arrive."},
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}} if needs_token else {},
        },
    }


def _operation(name: str, summary: str, answers: dict[int, Json], needs_token: bool = False, **more: Any) -> Json:
    refusals = [*EVERYWHERE, *([401] if needs_token else []), *more.pop("refusals", ())]
    responses = {str(status): {"description": MEANINGS[status], **_json(_REFERENCE)} for status in refusals}
    responses |= {str(status): {"description": summary, **answer} for status, answer in answers.items()}
    found = {"operationId": name, "summary": summary, "responses": responses, **more}
    return found | ({"security": [{"token": []}]} if needs_token else {})


def _observations(limits: Limits, mapping: ColumnMapping | None, needs_token: bool) -> Json:
    receipt: Json = {
        "type": "object",
        "required": ["first_row", "num_rows", "is_duplicate"],
        "properties": {
            "first_row": {"type": "integer", "minimum": 0},
            "num_rows": {"type": "integer", "minimum": 1},
            "is_duplicate": {"type": "boolean"},
        },
    }
    return _operation(
        "observe",
        "Rows of the stream: the whole batch or nothing. What is acknowledged is on disk.",
        {201: _json(receipt), 200: _json(receipt)},
        needs_token,
        refusals=(408, 409, 413, 415, 422, 503, 507),
        parameters=[
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A batch that is sent again under the same key is not counted twice.",
                "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
            }
        ],
        requestBody=_body(mapping, limits.batch_rows),
    )


def _predict(mapping: ColumnMapping | None, needs_token: bool) -> Json:
    answer: Json = {
        "type": "object",
        "required": ["num_rows_seen", "model_weights", "mean", "probabilities", "quantiles"],
        "properties": {
            "num_rows_seen": {"type": "integer"},
            "model_weights": {"type": "object", "additionalProperties": {"type": "number"}},
            "mean": {"type": ["array", "null"]},
            "probabilities": {"type": ["array", "null"]},
            "quantiles": {"type": ["object", "null"]},
        },
    }
    return _operation(
        "predict",
        "What the models together expect of rows with these inputs.",
        {200: _json(answer)},
        needs_token,
        refusals=(408, 409, 413, 415, 422),
        requestBody=_body(mapping, 4096),
    )


def _body(mapping: ColumnMapping | None, most_rows: int) -> Json:
    rows: Json = {"type": "array", "items": _row(mapping), "minItems": 1, "maxItems": most_rows}
    content: Json = {
        JSON: {"schema": rows},
        NDJSON: {"schema": {"type": "string", "description": "One JSON object per line."}},
        ARROW: {"schema": {"type": "string", "format": "binary"}},
    }
    return {"required": True, "content": content}


def _row(mapping: ColumnMapping | None) -> Json:
    names: list[str] = []
    for parts in (mapping or {}).values():
        names += [parts] if isinstance(parts, str) else parts
    vector_or_number: Json = {"type": ["number", "array"], "items": {"type": "number"}}
    known = dict.fromkeys(names, vector_or_number)
    return {"type": "object", "properties": known, "required": list(known)}


def _records(needs_token: bool) -> Json:
    parameters = [
        _query("from", "The first row of the stretch.", 0, LARGEST_ROW),
        _query("to", "The last row of the stretch.", 0, LARGEST_ROW),
        _query("points", "The most points to answer with.", 1, 2000),
    ]
    summary = "The curves, thinned to a number of points."
    return _operation("records", summary, {200: _json(_RECORDS)}, needs_token, parameters=parameters)


def _events(needs_token: bool) -> Json:
    parameters = [_query("from", "The row up to which the reader knows the stream.", 0, LARGEST_ROW)]
    summary = "Server-sent events: state and new points, a few times a second."
    answers = {200: _text("text/event-stream")}
    return _operation("events", summary, answers, needs_token, parameters=parameters, refusals=(503,))


def _query(name: str, description: str, least: int, most: int) -> Json:
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _json(schema: Json) -> Json:
    return {"content": {JSON: {"schema": schema}}}


def _text(media_type: str) -> Json:
    return {"content": {media_type: {"schema": {"type": "string"}}}}


_REFERENCE: Json = {"$ref": "#/components/schemas/Error"}
_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["status", "message"],
            "properties": {
                "status": {"type": "integer"},
                "message": {"type": "string"},
                "row": {"type": ["integer", "null"]},
                "column": {"type": ["string", "null"]},
                "num_bad_rows": {"type": "integer"},
                "bad_rows": {"type": "array", "items": {"type": "object"}},
            },
        }
    },
}
_HEALTH: Json = {
    "type": "object",
    "required": ["status", "needs_token"],
    "properties": {"status": {"type": "string"}, "needs_token": {"type": "boolean"}},
}
_STATE: Json = {
    "type": "object",
    "required": ["mode", "status", "num_rows", "models", "alarms", "leader", "is_separated"],
    "properties": {
        "num_rows": {"type": "integer"},
        "models": {
            "type": "array",
            "items": {"type": "object", "required": ["name", "log_evidence", "probability", "warning"]},
        },
        "alarms": {"type": "array", "items": {"type": "object"}},
        "leader": {"type": ["string", "null"]},
        "is_separated": {"type": "boolean"},
        "segmentation": {
            "type": "object",
            "description": "Change points, where they are looked for: probable borders, and the latest segments.",
            "required": ["num_rows", "rows", "probabilities", "num_segments", "segments"],
        },
    },
}
_RECORDS: Json = {
    "type": "object",
    "required": ["num_rows", "time", "rows_per_second", "memory_bytes", "models"],
    "properties": {
        "num_rows": NUMBERS,
        "models": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": NUMBERS},
        },
    },
}
