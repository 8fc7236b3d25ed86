"""Brain-inspired replay against itself by hand, and what it remembers."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import cross_entropy

from kenyon_lab.data import load
from kenyon_lab.methods import METHODS
from kenyon_lab.methods.bir import BrainInspiredReplay, ReferenceReplay
from lab.tests.methods.replay_by_hand import ReplayByHand

N_FEATURES, N_CLASSES, N_LATENT = 6, 5, 3


def small(**parameters):
    sizes = {"n_hidden": 12, "n_latent": N_LATENT, "gated": 0.5, "batch_size": 8}
    method = BrainInspiredReplay(**{**sizes, **parameters})
    method.begin(N_FEATURES, N_CLASSES)
    return method


def samples(n, classes, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.choice(classes, n)
    centres = np.random.default_rng(9).random((N_CLASSES, N_FEATURES))
    return (centres[y] + 0.1 * generator.standard_normal((n, N_FEATURES))).astype(np.float32), y


def numbers(network):
    return {name: value.clone() for name, value in network.state_dict().items()}


class Recorder(BrainInspiredReplay):
    """Notes the samples of each batch."""

    def _start(self):
        super()._start()
        self.noted = []

    def loss(self, X, y):
        self.noted.append((X.clone(), y.clone()))
        return super().loss(X, y)


class Forgetful(BrainInspiredReplay):
    """Replays nothing."""

    def _learn(self, X, y):
        super()._learn(X, y)
        self.frozen = None


def literal_adam(parameters, n_steps, loss, rate):
    """Adam as its paper writes it."""
    first, second = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
    for t in range(1, n_steps + 1):
        gradients = torch.autograd.grad(loss(t - 1), parameters)
        with torch.no_grad():
            for p, g, m, v in zip(parameters, gradients, first, second, strict=True):
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.999).add_(0.001 * g * g)
                p -= rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)


def test_the_first_task_trains_a_plain_autoencoder_that_classifies():
    method = small(learning_rate=0.01)
    X, y = samples(40, [1, 3])
    plain, generator = deepcopy(method.network).double(), deepcopy(method.generator)

    def loss(step):
        batch = slice(8 * step, 8 * step + 8)
        x, labels = torch.from_numpy(X[batch]).double(), torch.from_numpy(y[batch])
        noise = torch.from_numpy(generator.standard_normal((8, N_LATENT), np.float32)).double()
        hidden = plain.encoder(x)
        deviation = plain.latent_log_variance(hidden).exp().sqrt()
        posterior = torch.distributions.Normal(plain.latent_mean(hidden), deviation)
        z = posterior.mean + deviation * noise
        h = z
        for layer, gates in zip(plain.decoder, plain.gates, strict=True):
            h = torch.relu(layer(h)) * gates[labels]
        reconstruction = 0.5 * ((plain.output(h) - x) ** 2).mean()
        prior = torch.distributions.Normal(
            plain.prior_mean[labels], plain.prior_log_variance[labels].exp().sqrt()
        )
        divergence = (posterior.log_prob(z) - prior.log_prob(z)).sum(1).mean() / N_FEATURES
        two = plain.classifier(hidden)[:, [1, 3]]
        return reconstruction + divergence + cross_entropy(two, (labels == 3).long())

    literal_adam(list(plain.parameters()), 5, loss, 0.01)
    start = numbers(method.network)
    method.learn_task(X, y)
    for name, value in plain.named_parameters():
        learned = method.network.state_dict()[name]
        assert not torch.equal(learned, start[name]), name
        np.testing.assert_allclose(learned, value.detach(), atol=1e-5, err_msg=name)


@pytest.mark.parametrize("n_earlier", [1, 2])
def test_the_loss_of_a_later_task_is_that_by_hand(n_earlier):
    method = small(temperature=3.0, learning_rate=0.05)
    for task in [[4, 0], [2]][:n_earlier]:
        method.learn_task(*samples(40, task))
    copy, old = method.frozen, method.seen.tolist()
    frozen, generator = ReplayByHand(copy), deepcopy(method.generator)
    X, y = samples(20, [1], seed=1)
    method.learn_task(X, y)
    # The step is done again with weights that have moved away from those of the copy.
    method.frozen, method.earlier, method.generator = copy, torch.tensor(old), deepcopy(generator)
    loss = method.loss(torch.from_numpy(X), torch.from_numpy(y)).item()

    present, seen, t = ReplayByHand(method.network), sorted([*old, 1]), n_earlier + 1
    drawn = np.array(old)[generator.integers(len(old), size=20)]
    assert set(drawn) == set(old)
    latent = generator.standard_normal((20, N_LATENT), np.float32)
    noise = generator.standard_normal((40, N_LATENT), np.float32)
    current = [present.loss(x, c, seen, e) for x, c, e in zip(X, y, noise[:20], strict=True)]
    replayed = []
    for label, z, e in zip(drawn, latent, noise[20:], strict=True):
        x = frozen.generate(label, z)
        targets = frozen.soft_targets(x, old, 3.0)
        replayed.append(present.distillation_loss(x, targets, seen, 3.0, e))
    expected = np.mean(current) / t + (1 - 1 / t) * np.mean(replayed)
    assert loss == pytest.approx(expected, rel=1e-5)


def test_the_copy_is_of_the_end_of_the_task_and_stays():
    method = small()
    method.learn_task(*samples(40, [0, 1]))
    copy, before = method.frozen, numbers(method.frozen)
    for name, value in numbers(method.network).items():
        assert torch.equal(value, before[name])
    method.learn_task(*samples(40, [2, 3]))
    assert method.frozen is not copy
    for name, value in numbers(copy).items():
        assert torch.equal(value, before[name])
    assert not torch.equal(method.network.output.weight, copy.output.weight)


def test_gates_stay_through_training():
    method = small()
    gates = method.network.gates.clone()
    for task in ([0, 1], [2, 3]):
        method.learn_task(*samples(40, task))
    assert torch.equal(method.network.gates, gates)
    assert torch.equal(method.frozen.gates, gates)


def test_classes_are_replayed_evenly_and_only_those_of_earlier_tasks(monkeypatch):
    method = small(batch_size=100)
    for task in ([0, 4], [2]):
        method.learn_task(*samples(40, task))
    generate, drawn = method.frozen.generate, []
    monkeypatch.setattr(
        method.frozen,
        "generate",
        lambda classes, noise: drawn.append(classes) or generate(classes, noise),
    )
    method.learn_task(*samples(2400, [1, 2]))
    counts = torch.cat(drawn).bincount(minlength=N_CLASSES)
    assert counts.sum() == 2400
    assert counts[[1, 3]].sum() == 0
    assert (counts[[0, 2, 4]] - 800).abs().max() < 5 * np.sqrt(2400 * 2 / 9)


def test_what_was_not_seen_is_not_touched_nor_predicted():
    method = small(learning_rate=0.1)
    start = numbers(method.network)
    for task, seen in (([3], [3]), ([1], [1, 3])):
        method.learn_task(*samples(40, task))
        unseen = np.setdiff1d(np.arange(N_CLASSES), seen)
        for name in ("classifier.weight", "classifier.bias", "prior_mean", "prior_log_variance"):
            assert torch.equal(method.network.state_dict()[name][unseen], start[name][unseen])
        anything = 100 * np.random.default_rng(2).standard_normal((200, N_FEATURES))
        assert set(method.predict(anything)) <= set(seen)


def test_one_pass_in_the_order_given():
    method = Recorder(n_hidden=5, n_latent=2, batch_size=8)
    method.begin(N_FEATURES, N_CLASSES)
    X, y = samples(20, [0, 1])
    method.learn_task(X, y)
    shown, classes = zip(*method.noted, strict=True)
    assert [len(batch) for batch in shown] == [8, 8, 4]
    np.testing.assert_array_equal(torch.cat(shown), X)
    np.testing.assert_array_equal(torch.cat(classes), y)


def test_as_many_iterations_as_asked_for_in_passes_of_another_order():
    method = Recorder(n_hidden=5, n_latent=2, batch_size=8, n_iterations=8)
    method.begin(N_FEATURES, N_CLASSES)
    X, y = samples(20, [0, 1])
    method.learn_task(X, y)
    shown, classes = zip(*method.noted, strict=True)
    assert [len(batch) for batch in shown] == [8, 8, 4, 8, 8, 4, 8, 8]
    rows = [int(np.flatnonzero((row == X).all(1)).item()) for row in torch.cat(shown).numpy()]
    np.testing.assert_array_equal(torch.cat(classes), y[rows])
    assert sorted(rows[:20]) == sorted(rows[20:40]) == list(range(20))
    assert len(set(rows[40:])) == 16
    assert rows[:20] != rows[20:40]
    assert method.n_shown == 56


def test_replayed_samples_are_counted_and_nothing_is_stored():
    method = small()
    method.learn_task(*samples(20, [0, 1]))
    assert method.n_shown == 20
    method.learn_task(*samples(30, [2, 3]))
    assert method.n_shown == 20 + 2 * 30
    assert method.n_stored == 0


def test_the_copy_adds_no_parameters():
    method = small()
    encoder = 6 * 12 + 12 + 12 * 12 + 12
    heads = 12 * 5 + 5 + 12 * 3 + 3 + 12 * 3
    decoder = 3 * 12 + 12 + 12 * 12 + 12 + 12 * 6 + 6
    prior = 2 * 5 * 3
    assert method.n_parameters == encoder + heads + decoder + prior
    for task in ([0, 1], [2, 3]):
        method.learn_task(*samples(20, task))
    assert method.n_parameters == encoder + heads + decoder + prior


def test_features_of_the_reference_code_are_divided_by_the_largest_of_the_first_task():
    method = ReferenceReplay(n_hidden=5, n_latent=2)
    method.begin(N_FEATURES, N_CLASSES)
    X, y = samples(20, [0, 1])
    method.learn_task(4 * X, y)
    X_more, y_more = samples(20, [2, 3], seed=1)
    X_more[0, :2] = 100, -100
    method.learn_task(X_more, y_more)
    expected = np.minimum(np.maximum(X_more / (4 * X).max(), 0), 1)
    np.testing.assert_allclose(method.rescale(X_more), expected, rtol=1e-6)
    assert method.rescale(X_more)[0, :2].tolist() == [1, 0]
    with torch.inference_mode():
        logits = method.logits(torch.from_numpy(expected.astype(np.float32)))
    assert np.array_equal(method.predict(X_more), logits.argmax(1).numpy())
    method.begin(N_FEATURES, N_CLASSES)
    method.learn_task(np.zeros_like(X), y)
    assert method.scale == 1


def test_the_reference_code_learns_samples_from_0_to_1():
    class Noted(Recorder, ReferenceReplay):
        pass

    method = Noted(n_hidden=5, n_latent=2, batch_size=8)
    method.begin(N_FEATURES, N_CLASSES)
    X, y = samples(20, [0, 1])
    method.learn_task(10 * X, y)
    shown = torch.cat([inputs for inputs, _ in method.noted])
    np.testing.assert_allclose(shown, np.maximum(X / X.max(), 0), rtol=1e-5)
    assert shown.max() == 1


def test_the_reference_code_makes_five_passes():
    for dataset, n_samples in (("mnist20", 12_000), ("cifar100", 2000)):
        n_iterations = METHODS["bir-reference"].paper[dataset]["n_iterations"]
        assert n_iterations == 5 * np.ceil(n_samples / METHODS["bir"].make().batch_size)


@pytest.fixture(scope="module")
def digits():
    return load("digits")


def teach(cls, digits, n_tasks):
    method = cls(n_hidden=100, n_latent=20, n_iterations=60, learning_rate=0.003)
    method.begin(digits.n_features, digits.n_classes)
    for classes in digits.tasks()[:n_tasks]:
        task = np.isin(digits.y_train, classes)
        method.learn_task(digits.X_train[task] / 16, digits.y_train[task])
    return method


@pytest.fixture(scope="module")
def taught(digits):
    return teach(BrainInspiredReplay, digits, 3)


def accuracy(method, digits, classes):
    tested = np.isin(digits.y_test, classes)
    return (method.predict(digits.X_test[tested] / 16) == digits.y_test[tested]).mean()


def test_replay_keeps_what_is_forgotten_without_it(taught, digits):
    forgetful = teach(Forgetful, digits, 3)
    assert accuracy(taught, digits, [0, 1]) > 0.8
    assert accuracy(taught, digits, np.arange(6)) > 0.85
    assert accuracy(forgetful, digits, [0, 1]) < 0.2
    assert accuracy(forgetful, digits, [4, 5]) > 0.9


def test_the_reference_code_remembers_too(digits):
    reference = teach(ReferenceReplay, digits, 3)
    assert accuracy(reference, digits, [0, 1]) > 0.8
    assert accuracy(reference, digits, np.arange(6)) > 0.8


def test_replayed_samples_look_like_their_classes(taught, digits):
    judge = LogisticRegression(max_iter=1000).fit(digits.X_train / 16, digits.y_train)
    classes = np.repeat(np.arange(6), 50)
    noise = np.random.default_rng(1).standard_normal((300, 20), np.float32)
    with torch.no_grad():
        generated = taught.frozen.generate(
            torch.from_numpy(classes), torch.from_numpy(noise)
        ).numpy()
    for judged in (judge.predict(generated), taught.predict(generated)):
        agrees = (judged == classes).reshape(6, 50).mean(axis=1)
        assert agrees.min() > 0.8, agrees


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("n_hidden", 0, ValueError),
        ("n_latent", 2.5, TypeError),
        ("gated", 1.0, ValueError),
        ("gated", -0.1, ValueError),
        ("gated", float("nan"), ValueError),
        ("temperature", 0, ValueError),
        ("learning_rate", -1, ValueError),
        ("n_iterations", 0, ValueError),
    ],
)
def test_parameters_out_of_range_are_named(name, value, error):
    with pytest.raises(error, match=f"{name} must be .*, but is {value}"):
        small(**{name: value})
