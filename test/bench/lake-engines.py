"""Times two queries over the foods of a lake in one engine, and prints seconds and answers as JSON.

    lake-engines.py ENGINE LAKE [FILE]

LAKE is a folder, and FILE the database of the foods, for the engine `file`. Each query is run three times, and the quickest counts.
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
place = f"{lake}/data/branded_food/food"

queries = {
    "owners": "select brand_owner, count(*) as labels from {food} group by brand_owner order by labels desc, coalesce(brand_owner, '') limit 20",
    "chocolate": """select category, count(*) as labels from {food}
        where lower(description) like '%chocolate%' or lower(ingredients) like '%chocolate%'
        group by category order by labels desc, coalesce(category, '') limit 20""",
}


def duckdb_over(opening, food):
    import duckdb

    session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for statement in opening:
        session.execute(statement)
    return lambda sql: session.execute(sql.format(food=food)).fetchall()


def file():
    return duckdb_over([f"attach '{sys.argv[3]}' as larder (read_only)"], "larder.branded_food.food")


def ducklake():
    opening = [f"load '{extension('ducklake')}'", f"attach 'ducklake:{lake}/larder.ducklake' as larder (read_only)"]
    return duckdb_over(opening, "larder.branded_food.food")


def polars():
    import polars

    return lambda sql: polars.SQLContext(food=polars.scan_delta(place)).execute(sql.format(food="food")).collect().rows()


def clickhouse():
    import chdb

    os.chdir(lake)  # it reads no file outside
    connection = chdb.connect(":memory:")

    def ask(sql):
        found = connection.query(sql.format(food=f"deltaLakeLocal('{place}')"), "JSONCompact")
        return json.loads(str(found))["data"]

    return ask


def spark():
    opened = spark_session()
    return lambda sql: [list(row) for row in opened.sql(sql.format(food=f"delta.`{place}`")).collect()]


def timed(ask, sql):
    times = []
    for _ in range(3):
        began = time.monotonic()
        rows = ask(sql)
        times.append(time.monotonic() - began)
    return {"seconds": min(times), "rows": [[None if value is None else str(value) for value in row] for row in rows]}


ask = {run.__name__: run for run in [file, ducklake, polars, clickhouse, spark]}[engine]()
print(json.dumps({name: timed(ask, sql) for name, sql in queries.items()}))
