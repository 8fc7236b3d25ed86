# requires: pyspark pyarrow pandas
"""Learn and predict with Spark, which needs Java: each partition is a part, merged in two steps."""

import os
import sys

import pyarrow as pa
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StructField, StructType
from sklearn.datasets import load_digits

from kenyon import Combiner, FlyClassifier

digits = load_digits(as_frame=True).frame
samples, labels = digits.drop(columns="target"), digits["target"]
combiner = Combiner(FlyClassifier())


def learn(batches):
    frames = (batch.to_pandas() for batch in batches)
    part = combiner.learn((rows[samples.columns], rows["target"]) for rows in frames)
    yield pa.RecordBatch.from_pydict({"part": [part]})


def merge(batches):
    part = combiner.merge(part for batch in batches for part in batch["part"].to_pylist())
    yield pa.RecordBatch.from_pydict({"part": [part]})


os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
data = spark.createDataFrame(digits).repartition(6)
parts = data.mapInArrow(learn, "part binary")
merged = parts.repartition(2).mapInArrow(merge, "part binary")
part = combiner.merge(bytes(row.part) for row in merged.toLocalIterator())
model = combiner.model(part)


def predict(batches):
    for batch in batches:
        rows = batch.to_pandas()
        rows["predicted"] = model.predict(rows[samples.columns])
        yield pa.RecordBatch.from_pandas(rows, preserve_index=False)


schema = StructType([*data.schema, StructField("predicted", LongType())])
answers = data.mapInArrow(predict, schema).toPandas()

# The model is that of one machine, bit for bit, and so are its predictions.
assert part == combiner.learn([(samples, labels)])
one = FlyClassifier().fit(samples, labels)
assert (answers["predicted"] == one.predict(answers[samples.columns])).all()
print(f"Spark {pyspark.__version__}: {model}")
