"""Real local Spark sessions for tests: every port on 127.0.0.1, every file in the session's folder."""

import os
import shutil
import socket
import sys
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

LOG4J = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n%ex{0}
"""


def require_spark():
    """Skip the test if Spark cannot run; with FASTMETRICS_REQUIRE_SPARK=1 fail instead."""
    missing = []
    if find_spec("pyspark") is None:
        missing.append("pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing.append("there is no Java (Debian: apt-get install openjdk-17-jre-headless)")
    if missing and os.environ.get("FASTMETRICS_REQUIRE_SPARK") == "1":
        pytest.fail("; ".join(missing))
    if missing:
        pytest.skip("; ".join(missing))


def environment():
    return {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}


def java_options(folder):
    """Files stay in the folder. In a minute of Java an optimizing compiler and a parallel collector do not pay."""
    (folder / "log4j2.properties").write_text(LOG4J)
    return (
        f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder}"
        f" -Dlog4j2.configurationFile=file:{folder}/log4j2.properties"
        " -XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    )


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def connect_address(session):
    """Where a session of Spark Connect finds the Java process of a classic session."""
    return f"sc://127.0.0.1:{session.conf.get('spark.connect.grpc.binding.port')}"


def settings(folder):
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
        # Code is not generated and compiled for queries that run once.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # The same Java process serves sessions of Spark Connect, see `connect_address`.
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(free_port()),
        "spark.driver.extraJavaOptions": java_options(folder),
    }


@contextmanager
def spark_session(folder, **more):
    """A classic session with two worker threads. At the end its Java process is stopped and its files are removed."""
    os.environ.update(environment())
    with warnings.catch_warnings():
        # pyspark warns of newer versions of its own dependencies.
        warnings.simplefilter("ignore")
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2,4]").appName("fastmetrics tests")
        for key, value in (settings(folder) | more).items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        gateway = SparkContext._gateway
        session.stop()
        process = getattr(gateway, "proc", None)
        gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        if process is not None:
            process.stdin.close()
            process.wait(60)
