# requires: mlflow
"""Log a model in MLflow, in its default format; load it, teach it, and serve it."""

import os

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # no network

import signal
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import mlflow
import pandas as pd
import requests
from urllib3 import Retry

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline

temporary = TemporaryDirectory()
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{temporary.name}/mlflow.db"
mlflow.create_experiment("intents", artifact_location=f"file://{temporary.name}/artifacts")
mlflow.set_experiment("intents")

model = make_pipeline(TextEncoder("hashing"), FlyClassifier())
model.fit(["where is my card", "book a flight to Rome"], ["card", "travel"])
questions = pd.DataFrame({"text": ["my card is lost", "a flight, please"]})

with mlflow.start_run():
    logged = mlflow.sklearn.log_model(
        model,
        name="intents",
        input_example=questions,
        # The default format, skops, reads only scikit-learn's classes and those named here.
        skops_trusted_types=[
            "kenyon.classifier.FlyClassifier",
            "kenyon.encoders.text.TextEncoder",
            "kenyon.pipeline.Pipeline",
        ],
        pip_requirements=["kenyon"],
    )

loaded = mlflow.sklearn.load_model(logged.model_uri)
assert loaded.predict(questions).tolist() == ["card", "travel"]
loaded.learn_one("cancel my order", "cancel")  # a loaded model goes on learning
assert loaded.predict_one("cancel it") == "cancel"
assert mlflow.pyfunc.load_model(logged.model_uri).predict(questions).tolist() == ["card", "travel"]

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
local = mlflow.artifacts.download_artifacts(logged.model_uri)
command = f"mlflow models serve -m {local} -h 127.0.0.1 -p {port} --env-manager local"
path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
server = subprocess.Popen(command.split(), env={**os.environ, "PATH": path}, start_new_session=True)
try:
    session = requests.Session()
    session.trust_env = False  # no proxy
    patience = Retry(300, backoff_factor=1, backoff_max=1)
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=patience))
    asked = {"dataframe_split": questions.to_dict(orient="split")}
    answer = session.post(f"http://127.0.0.1:{port}/invocations", json=asked, timeout=60)
    assert answer.json() == {"predictions": ["card", "travel"]}
finally:
    os.killpg(server.pid, signal.SIGTERM)
    server.wait()
