"""Reads lakes with other engines, and prints for each request a summary of its tables as JSON, keyed by engine and table.

    readers.py REQUESTS

REQUESTS is a JSON list of objects with `engines`, with `lake`, which is a folder or a bucket that requires AWS_ENDPOINT_URL_S3,
AWS_REGION and the keys, and optionally with `versions`, those of the tables to read; by default the newest of all tables. Values
are compared by a hash over all rows, which are written the same way for each engine.
"""

import functools
import json
import os
import sys

import duckdb

sys.dont_write_bytecode = True
from opened import extension, spark_session

session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
session.execute("set timezone = 'UTC'")


def load(name):
    session.execute(f"load '{extension(name)}'")  # once more has no effect


def summary(source):
    """The number of rows, a digest of the values, and the types that DuckDB reads from `source`."""
    rows, digest = session.execute(
        f"""select count(*), md5(coalesce(string_agg(line, '' order by line), ''))
            from (select md5(t::varchar) as line from ({source}) t)"""
    ).fetchone()
    types = {name: kind for name, kind, *_ in session.execute(f"describe {source}").fetchall()}
    return {"rows": rows, "digest": digest, "types": types}


@functools.cache
def enable_network():
    """Lets DuckDB, deltalake and Polars read a lake in a bucket."""
    load("httpfs")
    endpoint = os.environ["AWS_ENDPOINT_URL_S3"].removeprefix("http://")
    session.execute(
        f"""create or replace secret (type s3, endpoint '{endpoint}', url_style 'path', use_ssl false, region '{os.environ["AWS_REGION"]}',
            key_id '{os.environ["AWS_ACCESS_KEY_ID"]}', secret '{os.environ["AWS_SECRET_ACCESS_KEY"]}')"""
    )
    os.environ["AWS_ALLOW_HTTP"] = "true"


def requested_tables(lake, versions):
    """The name, location and version of each table; without a version, the newest is read."""
    if lake.startswith("s3://"):
        enable_network()
    logs = session.execute(f"select distinct parse_dirpath(file) from glob('{lake}/data/*/*/_delta_log/*.json')").fetchall()
    for location in sorted(log.removesuffix("/_delta_log") for (log,) in logs):
        table = ".".join(location.split("/")[-2:])
        if versions is None or table in versions:
            yield table, location, None if versions is None else versions[table]


def deltalake(lake, versions):
    from deltalake import DeltaTable

    for table, location, version in requested_tables(lake, versions):
        opened = DeltaTable(location, version=version)
        session.register("frame", opened.to_pyarrow_table())
        fields = json.loads(opened.schema().to_json())["fields"]
        yield table, {
            **summary("from frame"),
            "comment": opened.metadata().description,
            "comments": {field["name"]: field["metadata"].get("comment") for field in fields},
            "generation": opened.history(1)[0].get("userMetadata"),
            "version": opened.version(),
        }


def polars(lake, versions):
    import polars

    for table, location, version in requested_tables(lake, versions):
        session.register("frame", polars.read_delta(location, version=version).to_arrow())
        yield table, summary("from frame")


def delta(lake, versions):
    load("delta")
    for table, location, _ in requested_tables(lake, versions):
        yield table, summary(f"from delta_scan('{location}')")


def clickhouse(lake, versions):
    """ClickHouse has no null lists, and treats times without a zone as UTC."""
    import chdb

    os.chdir(lake)  # it reads no files outside the working directory
    connection = chdb.connect(":memory:")
    for table, location, version in requested_tables(lake, versions):
        settings = ["output_format_arrow_string_as_string = 1"]
        if version is not None:
            settings.append(f"delta_lake_snapshot_version = {version}")
        frame = connection.query(
            f"select * from deltaLakeLocal('{location}') settings {', '.join(settings)}", "ArrowTable"
        )
        session.register("frame", frame)
        types = session.execute("describe from frame").fetchall()
        times = [f'"{name}"::timestamp as "{name}"' for name, kind, *_ in types if kind == "TIMESTAMP WITH TIME ZONE"]
        replaced = f"replace ({', '.join(times)})" if times else ""
        yield table, summary(f"select * {replaced} from frame")


def spark(lake, versions):
    opened = spark_session(**{"spark.databricks.delta.snapshotPartitions": "2"})  # for small tables; one for all requests
    for table, location, version in requested_tables(lake, versions):
        reader = opened.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        frame = reader.load(location)
        session.register("frame", frame.toArrow())
        yield table, {
            **summary("from frame"),
            "comment": opened.sql(f"describe detail delta.`{location}`").first()["description"],
            "comments": {field.name: field.metadata.get("comment") for field in frame.schema.fields},
            "generation": opened.sql(f"describe history delta.`{location}` limit 1").first()["userMetadata"],
        }


by_name = {run.__name__: run for run in [deltalake, polars, delta, clickhouse, spark]}
requests = json.loads(sys.argv[1])
print(
    json.dumps(
        [{name: dict(by_name[name](one["lake"], one.get("versions"))) for name in one["engines"]} for one in requests]
    )
)
