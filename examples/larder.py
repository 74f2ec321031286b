"""The API from Python, with nothing but its standard library: LARDER_API_KEY=... python3 examples/larder.py

LARDER_URL is where the API is. A run makes four paid calls and costs 40 credits at most. Copy what you need.
"""

import json
import os
import random
import statistics
import time
from decimal import Decimal
from itertools import islice
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener


class LarderError(Exception):
    """What the API answered instead of data. `type` is stable and for machines, the message is for people."""

    def __init__(self, status, type, message, request_id):
        super().__init__(message)
        self.status, self.type, self.request_id = status, type, request_id


class NoRedirects(HTTPRedirectHandler):
    """A redirect followed by urllib would take the key along to wherever it leads."""

    def redirect_request(self, *_):
        return None


class Larder:
    def __init__(self, key, url, retries=4):
        self.key, self.url, self.retries = key, url.rstrip("/"), retries
        self.opener = build_opener(NoRedirects)
        self.last_cost = {}

    def get(self, path, **query):
        """One paid call; its body. Only 5xx is tried again: every other error would only repeat, and after a failure of the
        network nobody knows whether the call was charged."""
        given = {name: value for name, value in query.items() if value is not None}
        address = f"{self.url}/v1/{path}" + (f"?{urlencode(given)}" if given else "")
        for attempt in range(self.retries + 1):
            try:
                request = Request(address, headers={"Authorization": f"Bearer {self.key}"})
                with self.opener.open(request, timeout=60) as answer:
                    self._note(answer.headers)
                    # Decimals keep the digits that were published: 1.6140 stays 1.6140
                    return json.load(answer, parse_float=Decimal)
            except HTTPError as error:
                with error:
                    self._note(error.headers)
                    retry_after = error.headers.get("Retry-After", "")
                    asked = int(retry_after) if retry_after.isdecimal() else 0
                    if error.code < 500 or attempt == self.retries or asked > 60:
                        raise self._error(error) from None
                # The server asks everybody for the same wait: chance on top of it keeps them from coming back together
                time.sleep(asked + 0.5 * 2**attempt * random.uniform(0.5, 1))

    def rows(self, path, **query):
        """The rows of all pages. Each page is a paid call, made when its first row is wanted."""
        cursor = None
        while True:
            page = self.get(path, **query, cursor=cursor)
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _note(self, headers):
        self.last_cost = {"charged": headers.get("X-Credits-Charged"), "left": headers.get("X-Credits-Remaining")}

    @staticmethod
    def _error(answer):
        request_id = answer.headers.get("X-Request-Id")
        text = answer.read().decode(errors="replace")
        try:
            error = json.loads(text)["error"]
            return LarderError(answer.code, error["type"], error["message"], request_id)
        except (ValueError, KeyError, TypeError):  # not the API's: a proxy on the way
            return LarderError(answer.code, "unknown_answer", text[:200], request_id)


def main():
    larder = Larder(os.environ["LARDER_API_KEY"], os.environ.get("LARDER_URL", "http://127.0.0.1:8080"))

    series = ["cheese-block-sales-price-weekly", "butter-sales-price-weekly"]  # a hundred cost as much as one
    for prices in larder.get("commodities/prices", series=",".join(series), **{"from": "2026-08-29"})["data"]:
        for point in prices["points"][:1]:
            print(f"{prices['slug']}: {point['value']} {prices['unit']} on {point['date']}")

    # Small pages, to show how they are followed: one costs the same whatever its size, so ask for 200 otherwise
    foods = list(islice(larder.rows("branded-foods", category="cheese", limit=20), 60))
    sodium = [food["nutrition"]["sodium"] for food in foods if "sodium" in food["nutrition"]]
    if sodium:
        print(f"{len(foods)} cheeses, {len(sodium)} state their sodium; median {statistics.median(sodium)} mg per serving")
    else:
        print(f"{len(foods)} cheeses, none of which states its sodium")
    print(f"the last page cost {larder.last_cost['charged']} credits, {larder.last_cost['left']} are left")

    try:
        larder.get("branded-foods/" + quote("data_branded_food_?", safe=""))
    except LarderError as error:
        print(f"{error.status} {error.type}: {error} ({error.request_id})")


if __name__ == "__main__":
    main()
