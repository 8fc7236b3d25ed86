# requires: ray[data] pandas
"""Learn and predict with Ray Data: each block is a part, and the parts are merged in two steps."""

import pandas as pd
import ray
from sklearn.datasets import load_digits

from kenyon import Combiner, FlyClassifier

digits = load_digits(as_frame=True).frame
samples, labels = digits.drop(columns="target"), digits["target"]
combiner = Combiner(FlyClassifier())


def learn(rows):
    part = combiner.learn([(rows[samples.columns], rows["target"])])
    return pd.DataFrame({"part": [part]})


def merge(rows):
    return pd.DataFrame({"part": [combiner.merge(rows["part"])]})


ray.init(num_cpus=2, include_dashboard=False)
data = ray.data.from_pandas(digits).repartition(6)
parts = data.map_batches(learn, batch_size=None, batch_format="pandas")
merged = parts.map_batches(merge, batch_size=4, batch_format="pandas")
part = combiner.merge(row["part"] for row in merged.iter_rows())
model = combiner.model(part)


def predict(rows):
    return rows.assign(predicted=model.predict(rows[samples.columns]))


answers = data.map_batches(predict, batch_size=None, batch_format="pandas").to_pandas()

# The model is that of one machine, bit for bit, and so are its predictions.
assert part == combiner.learn([(samples, labels)])
one = FlyClassifier().fit(samples, labels)
assert (answers["predicted"] == one.predict(answers[samples.columns])).all()
print(f"Ray {ray.__version__}: {model}")
