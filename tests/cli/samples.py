"""Small tables of texts and digits."""

import csv

from sklearn.datasets import load_digits

SUBJECTS = "card", "song", "flight", "taxi"
VERBS = "find", "want", "lost", "like", "need", "see"


def texts(n, start=0):
    """Return different texts and their labels."""
    rows = []
    for i in range(start, start + n):
        subject = SUBJECTS[i % len(SUBJECTS)]
        rows.append((f"i {VERBS[i % len(VERBS)]} the {subject} number {i}", subject))
    return rows


def write_texts(path, rows, columns=("text", "label")):
    """Write texts and labels as CSV."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def digits(n=None):
    """Return images of digits as rows of pixels, and their labels."""
    X, y = load_digits(return_X_y=True)
    return X[:n], y[:n]


def digit_columns(n_features=64):
    """Return the names of the pixels."""
    return [f"pixel{i}" for i in range(n_features)]


def write_digits(path, X, y):
    """Write digits as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*digit_columns(X.shape[1]), "digit"])
        writer.writerows([*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True))
    return path
