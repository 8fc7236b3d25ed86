"""Why numbers differ from the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenyon_lab.reproduction.numbers import Numbers

REASONS: list[tuple[str, ...]] = [
    (
        "The encoder of MNIST-20 was trained as the paper describes, but on 10,000 of KMNIST's "
        "60,000 images: the others were not available.",
        "Each seed has an encoder of its own, so our standard deviations include the encoder's. "
        "The paper's are those of one encoder.",
        "Distorted training images make the features better: the FlyModel then has "
        "{mnist20-distorted.fly.accuracy:.3f} after 20 classes instead of "
        "{mnist20.fly.accuracy:.3f}.",
    ),
    (
        "CIFAR-100 is encoded by MobileNetV2, which saw images of 128 x 128 pixels. The paper has "
        "ResNet18, and does not say at which size it saw the images.",
        "So the order of the methods and their distances can be compared with the paper, but not "
        "their accuracies.",
        "The FlyModel has {cifar100.fly.accuracy:.3f} after 100 classes; the paper has 0.41.",
    ),
    (
        "The code that the paper adapted for EWC and GEM masks the outputs to the classes of a "
        "task for CIFAR-100 alone.",
        "On MNIST-20 after 10 classes, EWC has {mnist20.ewc-reference.accuracy_half:.3f} without "
        "and {mnist20.ewc-reference-masked.accuracy_half:.3f} with such a mask, and Vanilla "
        "{mnist20.vanilla-reference.accuracy_half:.3f} and "
        "{mnist20.vanilla-reference-masked.accuracy_half:.3f}; the paper has 0.58 and 0.19. A mask "
        "that explained its EWC would have to explain its Vanilla too.",
    ),
    (
        "The paper gives GEM 256 memories. We read it as 256 samples for each task, drawn "
        "uniformly from it.",
        "With 256 in all, GEM has {mnist20.gem-shared-memory.accuracy_half:.3f} after 10 classes "
        "of MNIST-20 instead of {mnist20.gem.accuracy_half:.3f}; the paper has 0.69.",
    ),
    (
        "BI-R has a linear output and sees each sample once, as the paper says.",
        "With the sigmoid output of its published code and five passes it has "
        "{mnist20.bir-reference.accuracy_half:.3f} after 10 classes of MNIST-20 instead of "
        "{mnist20.bir.accuracy_half:.3f}; the paper has 0.77.",
    ),
    (
        "Offline is trained with Adam. The paper names plain gradient descent with a learning rate "
        "of 0.001.",
        "In one pass that has {mnist20.offline-sgd.accuracy:.3f} after 20 classes of MNIST-20; "
        "with Adam it has {mnist20.offline.accuracy:.3f}. The paper's is 0.11 above the FlyModel's "
        "0.75.",
    ),
    (
        "The networks see the samples of a task in random order. The paper describes one class "
        "after the other, but its numbers for Vanilla are reproduced only in random order.",
    ),
    (
        "Perceptrons v1 to v3 have no cap on their weights: the paper's listings have none.",
        "With the FlyModel's cap, v3 has {mnist20.perceptron-v3-capped.accuracy:.3f} after 20 "
        "classes of MNIST-20 instead of {mnist20.perceptron-v3.accuracy:.3f}.",
    ),
    (
        "CLINC150 is not in the paper. The parameters of the FlyModel, of the paper's other "
        "continual methods, of sparse logistic regression, of SLDA and of Fly-CL were searched on "
        "a part of its training samples. Other ablations, perceptrons and Offline use their "
        "defaults.",
    ),
]
"""Reasons of one or more sentences with names of numbers, as `Numbers.fill` reads them."""


def give_reasons(numbers: Numbers) -> list[str]:
    """Return each reason without the sentences whose numbers were not measured."""
    filled = [[numbers.fill(sentence) for sentence in reason] for reason in REASONS]
    return [" ".join(filter(None, reason)) for reason in filled]
