"""The device under test, with the arrays to put there: numpy on the CPU, device memory elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pybn_api


class TestDevice:
    """Moves arrays to and from the device, layout and all."""

    __test__ = False

    def __init__(self, device: pybn_api.Device) -> None:
        self.device = device
        self.is_cpu = device.type == "cpu"

    @staticmethod
    def of_type(kind: str) -> TestDevice:
        for device in pybn_api.Device.all():
            if device.type == kind:
                return TestDevice(device)
        pytest.skip(f"no {kind} device in this build")

    def put(self, array: np.ndarray | None) -> Any:
        """The array on the device, with the same strides; on the CPU it is the array itself."""
        if array is None or self.is_cpu:
            return array
        return pybn_api.DeviceArray.from_numpy(array, self.device)

    def get(self, array: Any) -> np.ndarray | None:
        """Back in host memory."""
        if array is None or isinstance(array, np.ndarray):
            return array
        return array.to_numpy()

    def __enter__(self) -> TestDevice:
        self.device.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.device.__exit__(*exception)
