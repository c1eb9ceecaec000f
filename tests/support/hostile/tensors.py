"""A tensor with gradients, such as PyTorch's: NumPy reads its values only after `detach`."""

from __future__ import annotations

from typing import Any

import numpy as np


class TensorWithGradients:
    """Wraps an array; parts and sums of it are tensors with gradients too."""

    def __init__(self, values: np.ndarray, detached: bool = False) -> None:
        self._values, self._detached = values, detached

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self._detached:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return np.asarray(self._values, dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.__array__().__dlpack__(**options)

    def detach(self) -> TensorWithGradients:
        return TensorWithGradients(self._values, detached=True)

    def __getitem__(self, rows: Any) -> TensorWithGradients:
        return TensorWithGradients(self._values[rows], self._detached)

    def __add__(self, other: Any) -> TensorWithGradients:
        return TensorWithGradients(self._values + other, self._detached)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def dtype(self) -> str:
        return f"tensor.{self._values.dtype}"

    @property
    def ndim(self) -> int:
        return self._values.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape
