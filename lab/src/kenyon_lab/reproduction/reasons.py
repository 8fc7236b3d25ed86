"""Why numbers differ from the paper's."""

REASONS = [
    "The encoder of MNIST-20 was trained on 10,000 of KMNIST's 60,000 images, with random "
    "distortions. Its features are somewhat better than the paper's; methods that use the features "
    "directly gain from this.",
    "Where CIFAR-100 is not available, 100 classes of Tiny ImageNet stand in for it. Their encoder "
    "was trained on the original images of these classes. So only the order of the methods can be "
    "compared with the paper, not their accuracies.",
    "Offline is trained with Adam. One pass of plain gradient descent at the paper's learning rate "
    "of 0.001 stays below the bound that the paper reports; it is shown as well.",
    "GEM stores 256 samples of each task, drawn uniformly from it, and uses the exact projection. "
    "It is stronger here than in the paper. With only the last 256 samples of a task whose classes "
    "come one after the other, it is below the paper's number.",
    "EWC shares its outputs among all tasks, as class-incremental learning requires. The code that "
    "the paper adapted masks the outputs to the current task. With such a mask EWC and even "
    "Vanilla are far higher (see the tables).",
    "The networks see the samples of a task in random order. The paper describes one class after "
    "the other, but its numbers for Vanilla are reproduced only in random order.",
    "CLINC150 is not in the paper. The parameters of the fly, of the paper's other continual "
    "methods, of SLDA and of Fly-CL were searched on a part of its training samples (GEM's best "
    "learning rate is the largest that was tried). Ablations, perceptrons and Offline use their "
    "defaults.",
]
"""Sentences of the report; docs/bench.md has the measurements behind them."""
