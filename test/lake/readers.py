"""Reads a lake with engines that read it, and prints what each saw of each table as JSON: an object by the name of the engine.

    readers.py ENGINE,ENGINE LAKE [VERSIONS]

LAKE is the folder or the address; a bucket is reached with AWS_ENDPOINT_URL_S3, AWS_REGION and the keys. VERSIONS, as JSON, is the snapshot of the DuckLake, or the version of each table's Delta log, to read;
the newest where it is not given. Values are compared by a hash over all rows, written the same way whichever engine read them.
"""

import atexit
import functools
import json
import os
import shutil
import sys
import tempfile

import duckdb

sys.dont_write_bytecode = True
from opened import extension, spark_session

asked_engines, lake = sys.argv[1:3]
versions = json.loads(sys.argv[3]) if len(sys.argv) > 3 else None

session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
session.execute("set timezone = 'UTC'")


def load(name):
    session.execute(f"load '{extension(name)}'")


def summary(source):
    """Rows, values and types of what DuckDB reads from `source`."""
    rows, digest = session.execute(
        f"""select count(*), md5(coalesce(string_agg(line, '' order by line), ''))
            from (select md5(t::varchar) as line from ({source}) t)"""
    ).fetchone()
    types = {name: kind for name, kind, *_ in session.execute(f"describe {source}").fetchall()}
    return {"rows": rows, "digest": digest, "types": types}


def reach():
    """Lets DuckDB read where the lake is."""
    if "://" not in lake:
        return
    load("httpfs")
    if lake.startswith("s3://"):
        endpoint = os.environ["AWS_ENDPOINT_URL_S3"].removeprefix("http://")
        session.execute(
            f"""create or replace secret (type s3, endpoint '{endpoint}', url_style 'path', use_ssl false, region '{os.environ["AWS_REGION"]}',
                key_id '{os.environ["AWS_ACCESS_KEY_ID"]}', secret '{os.environ["AWS_SECRET_ACCESS_KEY"]}')"""
        )
        os.environ["AWS_ALLOW_HTTP"] = "true"  # as deltalake and Polars want it


@functools.cache
def attach():
    """Once. Over a network the catalogue is copied first, as `docs/scale-out.md` says."""
    load("ducklake")
    load("httpfs")  # also a catalogue on this machine may name files elsewhere
    reach()
    place = f"{lake}/larder.ducklake"
    if "://" in lake:
        copy = f"{tempfile.mkdtemp(prefix='larder-lake-')}/larder.ducklake"
        atexit.register(shutil.rmtree, os.path.dirname(copy))
        session.execute(f"copy (select content from read_blob('{place}')) to '{copy}' (format blob)")
        place = copy
    at = "" if versions is None else f", snapshot_version {versions}"
    session.execute(f"attach 'ducklake:{place}' as larder (read_only{at})")
    session.execute("use larder")


def ducklake():
    attach()
    tables = session.execute(
        "select schema_name, table_name, comment from duckdb_tables() where database_name = 'larder'"
    ).fetchall()
    seen = {}
    for schema, table, comment in tables:
        columns = session.execute(
            "select column_name, comment from duckdb_columns() where database_name = 'larder' and schema_name = ? and table_name = ?",
            [schema, table],
        ).fetchall()
        seen[f"{schema}.{table}"] = {
            **summary(f'from "{schema}"."{table}"'),
            "comment": comment,
            "comments": dict(columns),
        }
    return seen


def views():
    """Every view of the DuckLake, as far as it can be read."""
    attach()
    found = session.execute(
        "select schema_name, view_name, comment from duckdb_views() where database_name = 'larder' and not internal"
    ).fetchall()
    seen = {f"{schema}.{view}": {**summary(f'from "{schema}"."{view}"'), "comment": comment} for schema, view, comment in found}
    seen["price_as_of"] = summary("from commodity.price_as_of('2026-07-10')")
    return seen


def snapshots():
    attach()
    rows = session.execute(
        "select snapshot_id, commit_message, commit_extra_info from larder.snapshots() order by 1"
    ).fetchall()
    return [
        {"snapshot": number, "message": message, "delta_versions": json.loads(extra)["delta_versions"]}
        for number, message, extra in rows
    ]


def delta_tables():
    """Names of the tables, with where they are."""
    reach()
    logs = session.execute(f"select distinct parse_dirpath(file) from glob('{lake}/data/*/*/_delta_log/*.json')").fetchall()
    places = sorted(log.removesuffix("/_delta_log") for (log,) in logs)
    return {".".join(place.split("/")[-2:]): place for place in places}


def version_of(table):
    return None if versions is None else versions.get(table)


def asked():
    return {table: place for table, place in delta_tables().items() if versions is None or table in versions}


def deltalake():
    from deltalake import DeltaTable

    seen = {}
    for table, place in asked().items():
        opened = DeltaTable(place, version=version_of(table))
        session.register("frame", opened.to_pyarrow_table())
        fields = json.loads(opened.schema().to_json())["fields"]
        seen[table] = {
            **summary("from frame"),
            "comment": opened.metadata().description,
            "comments": {field["name"]: field["metadata"].get("comment") for field in fields},
            "generation": opened.history(1)[0].get("userMetadata"),
            "version": opened.version(),
        }
    return seen


def polars():
    import polars

    seen = {}
    for table, place in asked().items():
        session.register("frame", polars.read_delta(place, version=version_of(table)).to_arrow())
        seen[table] = summary("from frame")
    return seen


def delta():
    load("delta")
    return {table: summary(f"from delta_scan('{place}')") for table, place in asked().items()}


def clickhouse():
    """ClickHouse has no lists that are null, and takes times without a zone for UTC."""
    import chdb

    os.chdir(lake)  # it reads no file outside
    connection = chdb.connect(":memory:")
    seen = {}
    for table, place in asked().items():
        settings = ["output_format_arrow_string_as_string = 1"]
        if versions is not None:
            settings.append(f"delta_lake_snapshot_version = {version_of(table)}")
        frame = connection.query(
            f"select * from deltaLakeLocal('{place}') settings {', '.join(settings)}", "ArrowTable"
        )
        session.register("frame", frame)
        types = session.execute("describe from frame").fetchall()
        times = [f'"{name}"::timestamp as "{name}"' for name, kind, *_ in types if kind == "TIMESTAMP WITH TIME ZONE"]
        replaced = f"replace ({', '.join(times)})" if times else ""
        seen[table] = summary(f"select * {replaced} from frame")
    return seen


def spark():
    opened = spark_session(**{"spark.databricks.delta.snapshotPartitions": "2"})  # for small tables
    seen = {}
    for table, place in asked().items():
        reader = opened.read.format("delta")
        if versions is not None:
            reader = reader.option("versionAsOf", version_of(table))
        frame = reader.load(place)
        session.register("frame", frame.toArrow())
        seen[table] = {
            **summary("from frame"),
            "comment": opened.sql(f"describe detail delta.`{place}`").first()["description"],
            "comments": {field.name: field.metadata.get("comment") for field in frame.schema.fields},
            "generation": opened.sql(f"describe history delta.`{place}` limit 1").first()["userMetadata"],
        }
    opened.stop()
    return seen


engines = [ducklake, views, snapshots, deltalake, polars, delta, clickhouse, spark]
by_name = {run.__name__: run for run in engines}
print(json.dumps({name: by_name[name]() for name in asked_engines.split(",")}))
