# requires: apache-beam pyarrow pandas
"""Learn and predict with Beam: a part is the accumulator of a CombineFn."""

from pathlib import Path
from tempfile import TemporaryDirectory

import apache_beam as beam
import pandas as pd
import pyarrow as pa
from apache_beam.options.pipeline_options import PipelineOptions
from sklearn.datasets import load_digits

import kenyon
from kenyon import Combiner, FlyClassifier

digits = load_digits(as_frame=True).frame
samples, labels = digits.drop(columns="target"), digits["target"]
combiner = Combiner(FlyClassifier())


class Learn(beam.CombineFn):
    def create_accumulator(self):
        return b""

    def add_input(self, part, rows):
        learned = combiner.learn([(rows[samples.columns], rows["target"])])
        return combiner.merge([part, learned])

    def merge_accumulators(self, parts):
        return combiner.merge(parts)

    def extract_output(self, part):
        return part


temporary = TemporaryDirectory()
folder = Path(temporary.name)
for number in range(6):
    digits[number::6].to_parquet(folder / f"{number}.parquet")


def read(pipeline):
    tables = pipeline | beam.io.ReadFromParquetBatched(str(folder / "*.parquet"))
    return tables | beam.Map(pa.Table.to_pandas)


options = PipelineOptions(direct_running_mode="multi_processing", direct_num_workers=2)
with beam.Pipeline(options=options) as pipeline:
    part = read(pipeline) | beam.CombineGlobally(Learn())
    # A part is the content of a model file.
    part | beam.Map((folder / "model.kenyon").write_bytes)
model = kenyon.load(folder / "model.kenyon")


def predict(rows):
    rows = rows.assign(predicted=model.predict(rows[samples.columns]))
    return rows.to_json(orient="records", lines=True).strip()


with beam.Pipeline(options=options) as pipeline:
    answers = read(pipeline) | beam.Map(predict)
    answers | beam.io.WriteToText(str(folder / "answers.jsonl"))

# The model is that of one machine, bit for bit, and so are its predictions.
one = FlyClassifier().fit(samples, labels)
one.save(folder / "one.kenyon")
assert (folder / "one.kenyon").read_bytes() == (folder / "model.kenyon").read_bytes()
for path in folder.glob("answers.jsonl-*"):
    rows = pd.read_json(path, lines=True)
    assert (rows["predicted"] == one.predict(rows[samples.columns])).all()
print(f"Beam {beam.__version__}: {model}")
