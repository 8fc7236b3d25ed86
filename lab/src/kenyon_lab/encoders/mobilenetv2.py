"""MobileNetV2, an image encoder with torchvision's ImageNet weights, on whole arrays of images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon.encoders.checkpoint import load_checkpoint
from kenyon.encoders.mobilenetv2 import N_FEATURES, Network, preprocess
from kenyon_lab.encoders.image_encoder import DEFAULT_SIZE, ImageEncoder

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray


class MobileNetV2(ImageEncoder):
    """Encodes images by the network of `kenyon.encoders.ImageEncoder("mobilenetv2")`.

    `encode` takes uint8 RGB images of shape (n_images, height, width, 3); no feature is negative or
    above 6. The shorter side is resized to `size` pixels, and the central square is encoded.
    `from_checkpoint` reads torchvision's mobilenet_v2-b0353104.pth. Images are encoded 16 at a
    time, which is faster; the last bits of features depend on the batch.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.encoders import MobileNetV2
    >>> encoder = MobileNetV2.from_checkpoint("mobilenet_v2-b0353104.pth")  # doctest: +SKIP
    >>> encoder.encode(np.zeros((3, 32, 32, 3), dtype=np.uint8)).shape  # doctest: +SKIP
    (3, 1280)
    """

    n_features = N_FEATURES
    # Larger batches are slower because the activations no longer fit into the CPU's cache.
    batch_size = 16

    @classmethod
    def from_checkpoint(cls, path: str | PathLike[str], *, size: int = DEFAULT_SIZE) -> MobileNetV2:
        """Read the weights from torchvision's checkpoint; no code in the file is executed.

        Parameters
        ----------
        path : str or path
        size : int
            The height and width, in pixels, that the network sees.

        Raises
        ------
        ValueError
            If the file is damaged, or is not a checkpoint of MobileNetV2.
        OSError
            If the file does not exist or cannot be read.
        """
        return cls(load_checkpoint(Network, path, "MobileNetV2"), size)

    def _encode(self, batch: NDArray[np.uint8]) -> Any:
        return self._network(preprocess(batch, self.size)).numpy()
