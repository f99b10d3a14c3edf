"""driver.mjs in Python."""

import json
import sys
import traceback
from itertools import islice

from scopegate import Scopegate, ScopegateError, format_amount, verify_webhook


def say(line):
    print(json.dumps(line), flush=True)


def each(rows, take):
    for row in islice(rows, take):
        say({"row": row})


def shown(error):
    """How a log would show an error, including its hidden context."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__)) + repr(error.__context__)


def on_retry(error, seconds):
    say({"retry": error.code, "seconds": seconds, "shown": shown(error)})
    if seconds > 60:
        raise RuntimeError("too long for a test")


def verify(body, headers, secret, tolerance=None):
    if tolerance:
        return verify_webhook(body, headers, secret, tolerance=float(tolerance))
    event = verify_webhook(body, headers, secret)
    return verify_webhook(body.encode(), headers, secret) and event


order = json.load(sys.stdin)
api = None


def call(do, route=None, path={}, query={}, take=None, body=None, key=None, etag=None, **others):
    given = {**query, **path}
    if do in ("get", "read"):
        return getattr(api, do)(route, **given)
    if do == "list":
        return each(api.list(route, **given), take)
    if do == "post":
        return api.post(route, body, idempotency_key=key, **given)
    if do == "patch":
        return api.patch(route, body, idempotency_key=key, if_match=etag, **given)
    if do == "graphql":
        return api.graphql(others["document"], others.get("variables"), idempotency_key=key)
    if do == "events":
        return each(api.events(**others), take)
    if do == "verify":
        return verify(body, **others)
    return format_amount(**others)


for one in order["calls"]:
    try:
        api = api or Scopegate(**order["options"], on_retry=on_retry)
        say({"result": call(**one)})
    except ScopegateError as error:
        members = {name: getattr(error, name) for name in ("status", "code", "detail", "errors")}
        others = {"requestId": error.request_id, "retryAfter": error.retry_after, "isRetryable": error.is_retryable}
        say({"error": {"name": "ScopegateError", "message": str(error), "shown": shown(error), **members, **others}})
    except Exception as error:
        say({"error": {"name": type(error).__name__, "message": str(error), "shown": shown(error)}})
