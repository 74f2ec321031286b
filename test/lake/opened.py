"""Opens engines to read a lake: DuckDB's extensions from PyPI, and a Spark session with the jars in `LAKE_JARS`."""

import os
from pathlib import Path


def extension(name):
    """Returns the file of an extension, which requires a session with `allow_unsigned_extensions`."""
    folders = __import__(f"duckdb_extension_{name}").__path__
    return next(path for folder in folders for path in Path(folder).rglob("*.duckdb_extension"))


def spark_session(**settings):
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", os.environ["LAKE_JARS"])
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
