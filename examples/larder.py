"""The API from Python, with only the standard library: LARDER_API_KEY=... python3 examples/larder.py

LARDER_URL is the address of the API. A run makes four paid calls and costs at most 40 credits. Copy what you need.
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
    """An error response. `type` is stable, for programs; the message is for people."""

    def __init__(self, status, type, message, request_id):
        super().__init__(message)
        self.status, self.type, self.request_id = status, type, request_id


class NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: urllib would send the key to the new address."""

    def redirect_request(self, *_):
        return None


class Larder:
    def __init__(self, key, url, retries=4):
        self.key, self.url, self.retries = key, url.rstrip("/").removesuffix("/v1"), retries
        self.opener = build_opener(NoRedirects)
        self.last_cost = {}

    def get(self, path, **query):
        """Makes one paid call and returns its body. Only 5xx is retried: every other error would repeat, and after a network
        failure, the call may have been charged."""
        given = {name: value for name, value in query.items() if value is not None}
        address = f"{self.url}/v1/{path}" + (f"?{urlencode(given)}" if given else "")
        for attempt in range(self.retries + 1):
            try:
                request = Request(address, headers={"Authorization": f"Bearer {self.key}"})
                with self.opener.open(request, timeout=60) as response:
                    self._record_cost(response.headers)
                    # Decimals keep the digits that were published: 1.6140 stays 1.6140
                    return json.load(response, parse_float=Decimal)
            except HTTPError as error:
                with error:
                    self._record_cost(error.headers)
                    retry_after = error.headers.get("Retry-After", "")
                    requested = int(retry_after) if retry_after.isdecimal() else 0
                    if error.code < 500 or attempt == self.retries or requested > 60:
                        raise self._make_error(error) from None
                # The server requests the same wait of all clients: jitter keeps them from retrying together
                time.sleep(requested + 0.5 * 2**attempt * random.uniform(0.5, 1))

    def rows(self, path, **query):
        """The rows of all pages. Each page is a paid call, made when its first row is needed."""
        cursor = None
        while True:
            page = self.get(path, **query, cursor=cursor)
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _record_cost(self, headers):
        self.last_cost = {"charged": headers.get("X-Credits-Charged"), "left": headers.get("X-Credits-Remaining")}

    @staticmethod
    def _make_error(response):
        request_id = response.headers.get("X-Request-Id")
        text = response.read().decode(errors="replace")
        try:
            error = json.loads(text)["error"]
            return LarderError(response.code, error["type"], error["message"], request_id)
        except (ValueError, KeyError, TypeError):  # a proxy's response, not the API's
            return LarderError(response.code, "unknown_answer", text[:200], request_id)


def main():
    larder = Larder(os.environ["LARDER_API_KEY"], os.environ.get("LARDER_URL", "http://127.0.0.1:8080"))

    series = ["cheese-block-sales-price-weekly", "butter-sales-price-weekly"]  # a hundred cost as much as one
    for prices in larder.get("commodities/prices", series=",".join(series), **{"from": "2026-08-29"})["data"]:
        for point in prices["points"][:1]:
            print(f"{prices['slug']}: {point['value']} {prices['unit']} on {point['date']}")

    # Small pages, to show paging: a page costs the same at any size, so request 200 otherwise
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
