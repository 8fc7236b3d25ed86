"""scikit-learn's digits, for tests and first steps."""

from __future__ import annotations

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.info import DatasetInfo
from kenyon_lab.data.split import split


def _read(info: DatasetInfo) -> Dataset:
    # Imported here because sklearn.datasets is slow to import.
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X_train, y_train, X_test, y_test = split(X, y, seed=0)
    return Dataset(
        name=info.name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        class_names=tuple("0123456789"),
        n_tasks=info.n_tasks,
        image_shape=(8, 8),
    )


PIXELS = DatasetInfo(
    name="digits",
    summary="scikit-learn's digits, 8 x 8 pixels",
    n_train=1438,
    n_test=359,
    n_features=64,
    n_classes=10,
    n_tasks=5,
    licence="CC BY 4.0",
    citation="Alpaydin, Kaynak 1998, Optical Recognition of Handwritten Digits, UCI",
    read=_read,
)
