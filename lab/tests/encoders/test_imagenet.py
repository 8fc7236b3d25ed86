"""Both networks with published weights recognise objects in real images."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_sample_image

from kenyon_lab.data.cifar100 import IMAGES, MOBILENETV2, RESNET50
from kenyon_lab.data.source import DATA_FOLDER
from kenyon_lab.encoders import MobileNetV2, ResNet50

PALACE = 698
# Classes of CIFAR-100 that are classes of ImageNet too.
SHARED = {"orange": 950, "castle": 483, "bee": 309, "lawn_mower": 621, "leopard": 288}
N_IMAGES = 20


def mobilenetv2(size):
    encoder = MobileNetV2.from_checkpoint(MOBILENETV2.fetch(), size=size)
    return encoder, encoder._network.classifier


def resnet50(size):
    encoder = ResNet50.from_folder(RESNET50.fetch(), size=size)
    return encoder, encoder._network.fc1000


@pytest.fixture(params=[(mobilenetv2, MOBILENETV2), (resnet50, RESNET50)], ids=["mobile", "resnet"])
def classify(request):
    """Return the five most probable classes of ImageNet, the best first."""
    make, source = request.param
    if not source.is_local():
        pytest.skip(f"{source.path} is missing (`{source.remedy}` installs it)")

    def classify(images, size):
        encoder, last_layer = make(size)
        with torch.inference_mode():
            scores = last_layer(torch.from_numpy(encoder.encode(images)))
        return scores.topk(5).indices.numpy()

    return classify


def test_recognises_the_palace(classify):
    image = load_sample_image("china.jpg")
    assert classify(image[None], 224)[0, 0] == PALACE


def test_recognises_shared_classes(classify):
    if not IMAGES.is_local():
        pytest.skip(f"{DATA_FOLDER} names no folder with CIFAR-100")
    images = IMAGES.read_images()
    chosen = [
        images.X_test[images.y_test == images.class_names.index(name)][:N_IMAGES] for name in SHARED
    ]
    labels = np.repeat(list(SHARED.values()), N_IMAGES)
    found = classify(np.concatenate(chosen), 128) == labels[:, None]
    # By chance the first is right in 0.1 of the 100 images, and one of five in 0.5.
    assert found[:, 0].sum() >= 15
    assert found.any(axis=1).sum() >= 45
    assert found.any(axis=1).reshape(-1, N_IMAGES).sum(axis=1).min() >= 4
