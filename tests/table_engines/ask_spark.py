"""Ask the table of roles with Spark: ask_spark.py FOLDER QUESTION JAR..., in .cache/engines.

The session has Iceberg's catalog over JDBC, which reads the SQLite file that PyIceberg wrote. Its
name has to be that of the catalog there.
"""

import csv
import sys

from pyspark.sql import SparkSession

CATALOG = "spark.sql.catalog.tidscope"


def main(folder: str, question: str, *jars: str) -> None:
    """Print the rows as CSV. A question names the table `roles`."""
    options = {
        "spark.jars": ",".join(jars),
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.type": "jdbc",
        f"{CATALOG}.uri": f"jdbc:sqlite:{folder}/catalog.db",
        f"{CATALOG}.jdbc.schema-version": "V1",
        f"{CATALOG}.warehouse": f"file://{folder}",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        rows = session.sql(question.format(roles="tidscope.tidscope.roles")).collect()
    finally:
        session.stop()
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
