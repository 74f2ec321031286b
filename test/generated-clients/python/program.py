"""Calls all operations with the client of openapi-python-client: one line of JSON per response."""

import json
import os
from datetime import date

from larder_client import AuthenticatedClient
from larder_client.api.branded_foods import get_branded_food, get_branded_food_categories, search_branded_foods
from larder_client.api.commodities import get_commodity_metric_values, get_commodity_prices, search_commodities
from larder_client.api.storefronts import (
    get_product,
    get_store,
    get_store_collections,
    get_store_products,
    search_stores,
)
from larder_client.types import UNSET


def connect(key):
    return AuthenticatedClient(base_url=os.environ["LARDER_URL"], token=os.environ[key])


def print_response(response):
    print(json.dumps({"status": int(response.status_code), "body": response.parsed.to_dict()}))
    return response.parsed


def fetch_pages(call, *path, **query):
    rows, cursor = [], UNSET
    while cursor is not None:
        page = print_response(call.sync_detailed(*path, client=all_scopes, cursor=cursor, **query))
        rows += page.data
        cursor = page.next_cursor
    return rows


all_scopes = connect("LARDER_API_KEY")

print_response(search_commodities.sync_detailed(client=all_scopes, commodity="butter"))
print_response(search_commodities.sync_detailed(client=all_scopes))
fetch_pages(search_commodities, category="dairy", limit=8)
print_response(
    get_commodity_prices.sync_detailed(
        client=all_scopes,
        series="cheese-block-sales-price-weekly,milk-class-iii-price-monthly",
        from_=date(2026, 8, 1),
        to=date(2026, 9, 30),
    )
)
print_response(
    get_commodity_metric_values.sync_detailed(
        client=all_scopes, metrics="butter_sales_price_weekly,dry_whey_sales_price_weekly", from_=date(2026, 8, 29)
    )
)

foods = fetch_pages(search_branded_foods, category="Breads & Buns", limit=10)
print_response(get_branded_food_categories.sync_detailed(client=all_scopes))
print_response(get_branded_food.sync_detailed(foods[0].id, client=all_scopes))

stores = fetch_pages(search_stores, limit=2)
store = next(store.id for store in stores if store.collection_count > 0)
print_response(get_store.sync_detailed(store, client=all_scopes))
products = fetch_pages(get_store_products, store, limit=25)
fetch_pages(get_store_collections, store, limit=3)
print_response(get_product.sync_detailed(products[0].id, client=all_scopes))

print_response(get_commodity_prices.sync_detailed(client=all_scopes, series="gold"))
for key in ("LARDER_UNKNOWN_KEY", "LARDER_PAUSED_KEY", "LARDER_NARROW_KEY"):
    print_response(get_branded_food_categories.sync_detailed(client=connect(key)))
print_response(get_branded_food.sync_detailed("no such food, é/?", client=all_scopes))
print_response(get_product.sync_detailed("broken", client=all_scopes))
print_response(get_product.sync_detailed("overloaded", client=all_scopes))
