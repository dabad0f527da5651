"""The arrays that people have, as the library sees them: shape, strides, dtype, address, device. Nothing is
copied.

Each kind of array has a `Family`; `family_of` finds it. Kinds that are known by name are used directly; any
other object comes in through `__cuda_array_interface__` or DLPack and is wrapped in an `Adopted`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pybn_api.arrays.base import Array, Family, View
from pybn_api.arrays.numpy_family import NumpyFamily

__all__ = ["Array", "Family", "View", "adopt", "families", "family_of", "view_of"]

# By exact type; filled as types are met.
families: dict[type, Family] = {np.ndarray: NumpyFamily()}


def family_of(array: Any) -> Family | None:
    """How arrays of this object's type are read; None for an object that has to be adopted first."""
    kind = type(array)
    family = families.get(kind)
    if family is None:
        family = _find(array)
        if family is not None:
            families[kind] = family
    return family


def _find(array: Any) -> Family | None:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array: fill it first (the mask would be ignored)")
    if isinstance(array, np.ndarray):
        return families[np.ndarray]
    from pybn_api.arrays.device_array import DeviceArray, DeviceArrayFamily

    if isinstance(array, DeviceArray):
        return DeviceArrayFamily()
    modules = {cls.__module__.partition(".")[0] for cls in type(array).__mro__}
    if "torch" in modules:
        import torch

        if isinstance(array, torch.Tensor):
            from pybn_api.arrays.torch_family import TorchFamily

            return TorchFamily()
    if "cupy" in modules:
        import cupy  # pyright: ignore[reportMissingImports]

        if isinstance(array, cupy.ndarray):
            from pybn_api.arrays.cupy_family import CupyFamily

            return CupyFamily()
    return None


def adopt(array: Any) -> Any:
    """An object of an unknown type as an `Adopted`, without copying; raises TypeError if it is no array."""
    from pybn_api.arrays.adopted import Adopted, AdoptedFamily

    adopted = Adopted.of(array)
    families.setdefault(Adopted, AdoptedFamily())
    return adopted


def view_of(array: Any) -> View:
    """Describes any array. The array must stay alive while the description is used."""
    family = family_of(array)
    if family is None:
        array = adopt(array)
        family = families[type(array)]
    return family.view(array)
