"""Counts the rows of every view of larder.duckdb, reading every value, in the database of someone else."""

import json
import sys

import duckdb

db = duckdb.connect()
db.execute(f"attach '{sys.argv[1]}' as prices (read_only)")
views = db.execute(
    "select schema_name || '.' || view_name from duckdb_views() where database_name = 'prices' and not internal"
).fetchall()
read = {name: db.execute(f"select count(hash(r))::integer from prices.{name} r").fetchone()[0] for [name] in views}
print(json.dumps({"version": duckdb.__version__, "read": read}))
