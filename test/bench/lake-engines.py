"""Times two queries over the foods of a lake in one engine, and prints seconds and rows as JSON.

    lake-engines.py ENGINE LAKE [FILE]

LAKE is a folder, and FILE the database of the foods, for the engine `file`. Each query runs three times, and the fastest run counts.
"""

import json
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).parents[1] / "lake"))
from opened import extension, spark_session

engine, lake = sys.argv[1:3]
table = f"{lake}/data/branded_food/food"

queries = {
    "owners": "select brand_owner, count(*) as labels from {food} group by brand_owner order by labels desc, coalesce(brand_owner, '') limit 20",
    "chocolate": """select category, count(*) as labels from {food}
        where lower(description) like '%chocolate%' or lower(ingredients) like '%chocolate%'
        group by category order by labels desc, coalesce(category, '') limit 20""",
}


def duckdb_with(statements, food):
    import duckdb

    session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for statement in statements:
        session.execute(statement)
    return lambda sql: session.execute(sql.format(food=food)).fetchall()


def file():
    return duckdb_with([f"attach '{sys.argv[3]}' as larder (read_only)"], "larder.branded_food.food")


def delta():
    return duckdb_with([f"load '{extension('delta')}'"], f"delta_scan('{table}')")


def polars():
    import polars

    return lambda sql: polars.SQLContext(food=polars.scan_delta(table)).execute(sql.format(food="food")).collect().rows()


def clickhouse():
    import chdb

    os.chdir(lake)  # it reads only files in this folder
    connection = chdb.connect(":memory:")

    def query(sql):
        result = connection.query(sql.format(food=f"deltaLakeLocal('{table}')"), "JSONCompact")
        return json.loads(str(result))["data"]

    return query


def spark():
    session = spark_session()
    return lambda sql: [list(row) for row in session.sql(sql.format(food=f"delta.`{table}`")).collect()]


def measure(query, sql):
    times = []
    for _ in range(3):
        started = time.monotonic()
        rows = query(sql)
        times.append(time.monotonic() - started)
    return {"seconds": min(times), "rows": [[None if value is None else str(value) for value in row] for row in rows]}


query = {run.__name__: run for run in [file, delta, polars, clickhouse, spark]}[engine]()
print(json.dumps({name: measure(query, sql) for name, sql in queries.items()}))
