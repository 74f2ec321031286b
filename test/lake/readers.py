"""Reads a lake with other engines, and prints a summary of each table as JSON, keyed by engine and table.

    readers.py ENGINE,ENGINE LAKE [VERSIONS]

LAKE is a folder or a bucket, which requires AWS_ENDPOINT_URL_S3, AWS_REGION and the keys. VERSIONS, as JSON, are the versions
of the tables to read; by default the newest of all tables. Values are compared by a hash over all rows, which are written the
same way for each engine.
"""

import json
import os
import sys

import duckdb

sys.dont_write_bytecode = True
from opened import extension, spark_session

engine_names, lake = sys.argv[1:3]
versions = json.loads(sys.argv[3]) if len(sys.argv) > 3 else None

session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
session.execute("set timezone = 'UTC'")


def load(name):
    session.execute(f"load '{extension(name)}'")


def summary(source):
    """The number of rows, a digest of the values, and the types that DuckDB reads from `source`."""
    rows, digest = session.execute(
        f"""select count(*), md5(coalesce(string_agg(line, '' order by line), ''))
            from (select md5(t::varchar) as line from ({source}) t)"""
    ).fetchone()
    types = {name: kind for name, kind, *_ in session.execute(f"describe {source}").fetchall()}
    return {"rows": rows, "digest": digest, "types": types}


def enable_network():
    """Lets DuckDB read a lake in a bucket."""
    if not lake.startswith("s3://"):
        return
    load("httpfs")
    endpoint = os.environ["AWS_ENDPOINT_URL_S3"].removeprefix("http://")
    session.execute(
        f"""create or replace secret (type s3, endpoint '{endpoint}', url_style 'path', use_ssl false, region '{os.environ["AWS_REGION"]}',
            key_id '{os.environ["AWS_ACCESS_KEY_ID"]}', secret '{os.environ["AWS_SECRET_ACCESS_KEY"]}')"""
    )
    os.environ["AWS_ALLOW_HTTP"] = "true"  # for deltalake and Polars


def delta_tables():
    """The locations of the tables, by name."""
    enable_network()
    logs = session.execute(f"select distinct parse_dirpath(file) from glob('{lake}/data/*/*/_delta_log/*.json')").fetchall()
    locations = sorted(log.removesuffix("/_delta_log") for (log,) in logs)
    return {".".join(location.split("/")[-2:]): location for location in locations}


def version_of(table):
    return None if versions is None else versions.get(table)


def requested_tables():
    return {table: location for table, location in delta_tables().items() if versions is None or table in versions}


def deltalake():
    from deltalake import DeltaTable

    summaries = {}
    for table, location in requested_tables().items():
        opened = DeltaTable(location, version=version_of(table))
        session.register("frame", opened.to_pyarrow_table())
        fields = json.loads(opened.schema().to_json())["fields"]
        summaries[table] = {
            **summary("from frame"),
            "comment": opened.metadata().description,
            "comments": {field["name"]: field["metadata"].get("comment") for field in fields},
            "generation": opened.history(1)[0].get("userMetadata"),
            "version": opened.version(),
        }
    return summaries


def polars():
    import polars

    summaries = {}
    for table, location in requested_tables().items():
        session.register("frame", polars.read_delta(location, version=version_of(table)).to_arrow())
        summaries[table] = summary("from frame")
    return summaries


def delta():
    load("delta")
    return {table: summary(f"from delta_scan('{location}')") for table, location in requested_tables().items()}


def clickhouse():
    """ClickHouse has no null lists, and treats times without a zone as UTC."""
    import chdb

    os.chdir(lake)  # it reads no files outside the working directory
    connection = chdb.connect(":memory:")
    summaries = {}
    for table, location in requested_tables().items():
        settings = ["output_format_arrow_string_as_string = 1"]
        if versions is not None:
            settings.append(f"delta_lake_snapshot_version = {version_of(table)}")
        frame = connection.query(
            f"select * from deltaLakeLocal('{location}') settings {', '.join(settings)}", "ArrowTable"
        )
        session.register("frame", frame)
        types = session.execute("describe from frame").fetchall()
        times = [f'"{name}"::timestamp as "{name}"' for name, kind, *_ in types if kind == "TIMESTAMP WITH TIME ZONE"]
        replaced = f"replace ({', '.join(times)})" if times else ""
        summaries[table] = summary(f"select * {replaced} from frame")
    return summaries


def spark():
    opened = spark_session(**{"spark.databricks.delta.snapshotPartitions": "2"})  # for small tables
    summaries = {}
    for table, location in requested_tables().items():
        reader = opened.read.format("delta")
        if versions is not None:
            reader = reader.option("versionAsOf", version_of(table))
        frame = reader.load(location)
        session.register("frame", frame.toArrow())
        summaries[table] = {
            **summary("from frame"),
            "comment": opened.sql(f"describe detail delta.`{location}`").first()["description"],
            "comments": {field.name: field.metadata.get("comment") for field in frame.schema.fields},
            "generation": opened.sql(f"describe history delta.`{location}` limit 1").first()["userMetadata"],
        }
    opened.stop()
    return summaries


engines = [deltalake, polars, delta, clickhouse, spark]
by_name = {run.__name__: run for run in engines}
print(json.dumps({name: by_name[name]() for name in engine_names.split(",")}))
