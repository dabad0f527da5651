"""A small network with batch norm, trained on handwritten digits: convolution, batch norm and ReLU, twice,
then a linear layer. Batch norm runs forward and backward by this library; the rest is a few lines of NumPy.

Images are stored [N, H, W, C]; the layers see them as [N, C, H, W] views, channels-last, without a copy.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import load_digits

from pybn_api.nn import BatchNorm

EPOCHS, BATCH, RATE, MOMENTUM = 12, 64, 0.05, 0.9


class Convolution:
    """3 by 3, padded, without bias: batch norm has one."""

    def __init__(self, inputs: int, outputs: int, random: np.random.Generator, dtype: type) -> None:
        scale = np.sqrt(2 / (9 * inputs))
        self.weight = (scale * random.standard_normal((inputs * 9, outputs))).astype(dtype)

    @staticmethod
    def windows(x: np.ndarray) -> np.ndarray:
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        views = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
        return views.reshape(*x.shape[:3], -1)

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.columns = self.windows(x)
        return self.columns @ self.weight

    def backward(self, grad: np.ndarray) -> np.ndarray:
        outputs = self.weight.shape[1]
        self.grad = self.columns.reshape(-1, self.weight.shape[0]).T @ grad.reshape(-1, outputs)
        # The gradient's windows meet the filters turned by half a turn.
        turned = self.weight.reshape(-1, 3, 3, outputs)[:, ::-1, ::-1].transpose(3, 1, 2, 0)
        return self.windows(grad) @ turned.reshape(outputs * 9, -1)


class Network:
    def __init__(self, dtype: type = np.float32, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.convolutions = [Convolution(1, 16, random, dtype), Convolution(16, 32, random, dtype)]
        self.norms = [BatchNorm(width, activation="relu", dtype=dtype) for width in (16, 32)]
        self.linear = (random.standard_normal((4 * 4 * 32, 10)) / 22).astype(dtype)
        self.velocity = [np.zeros_like(p) for p, _ in self.parameters()]

    def parameters(self) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Every parameter beside its gradient."""
        pairs = [(c.weight, getattr(c, "grad", None)) for c in self.convolutions]
        for norm in self.norms:
            pairs += [(norm.weight, norm.grad_weight), (norm.bias, norm.grad_bias)]
        return [*pairs, (self.linear, getattr(self, "grad_linear", None))]

    def forward(self, x: np.ndarray) -> np.ndarray:
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = norm(convolution.forward(x).transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)
        n = len(x)
        self.pooled = x.reshape(n, 4, 2, 4, 2, 32).mean(axis=(2, 4)).reshape(n, -1)
        return self.pooled @ self.linear

    def backward(self, grad: np.ndarray) -> None:
        n = len(grad)
        self.grad_linear = self.pooled.T @ grad
        pooled = (grad @ self.linear.T).reshape(n, 4, 1, 4, 1, 32) / 4
        grad = np.broadcast_to(pooled, (n, 4, 2, 4, 2, 32)).reshape(n, 8, 8, 32)
        for convolution, norm in zip(reversed(self.convolutions), reversed(self.norms), strict=True):
            grad = convolution.backward(norm.backward(grad.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1))

    def loss(self, x: np.ndarray, labels: np.ndarray, backward: bool = False) -> float:
        """Cross entropy; with `backward`, its gradients too."""
        scores = self.forward(x)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        chance = odds / odds.sum(axis=1, keepdims=True)
        rows = np.arange(len(x))
        if backward:
            grad = chance.copy()
            grad[rows, labels] -= 1
            self.backward(grad / len(x))
        return float(-np.log(chance[rows, labels]).mean())

    def step(self) -> None:
        for velocity, (parameter, gradient) in zip(self.velocity, self.parameters(), strict=True):
            velocity *= MOMENTUM
            velocity -= RATE * gradient
            parameter += velocity

    def accuracy(self, x: np.ndarray, labels: np.ndarray) -> float:
        for norm in self.norms:
            norm.eval()
        right = (self.forward(x).argmax(axis=1) == labels).mean()
        for norm in self.norms:
            norm.train()
        return float(right)


def check_gradients() -> float:
    """The largest relative distance between gradients and float64 differences, over some of every
    parameter."""
    random = np.random.default_rng(1)
    network = Network(np.float64)
    x, labels = random.standard_normal((6, 8, 8, 1)), random.integers(0, 10, 6)
    network.loss(x, labels, backward=True)
    worst, step = 0.0, 1e-5
    for parameter, gradient in network.parameters():
        gradient = gradient.copy()
        for _ in range(6):
            at = tuple(int(random.integers(extent)) for extent in parameter.shape)
            kept = parameter[at]
            parameter[at] = kept + step
            up = network.loss(x, labels)
            parameter[at] = kept - step
            down = network.loss(x, labels)
            parameter[at] = kept
            slope = (up - down) / (2 * step)
            worst = max(worst, abs(slope - gradient[at]) / max(1e-3, abs(slope)))
    return worst


def bar(done: int, total: int, note: str) -> None:
    """A progress bar on a terminal; otherwise one line at the end."""
    if sys.stdout.isatty() or done == total:
        filled = 30 * done // total
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {note}", end="" if done < total else "\n", flush=True)


def main() -> None:
    worst = check_gradients()
    print(f"gradients beside float64 differences: largest relative distance {worst:.1e}")
    if worst > 1e-4:
        raise SystemExit("the gradients are wrong")

    images, labels = load_digits(return_X_y=True)
    x = (images.reshape(-1, 8, 8, 1) / 16).astype(np.float32)
    random = np.random.default_rng(2)
    order = random.permutation(len(x))
    held, train = order[: len(x) // 5], order[len(x) // 5 :]

    network = Network()
    start = time.perf_counter()
    for epoch in range(EPOCHS):
        random.shuffle(train)
        batches = [train[i : i + BATCH] for i in range(0, len(train) - BATCH + 1, BATCH)]
        losses = []
        for batch in batches:
            losses.append(network.loss(x[batch], labels[batch], backward=True))
            network.step()
        note = f"epoch {epoch + 1:2}: loss {np.mean(losses):.4f}"
        bar(epoch + 1, EPOCHS, f"{note}, held-out accuracy {network.accuracy(x[held], labels[held]):.1%}")
    seconds = time.perf_counter() - start
    accuracy = network.accuracy(x[held], labels[held])
    print(f"{accuracy:.1%} of {len(held)} held-out digits are read right, after {seconds:.1f} s of training")
    if accuracy < 0.97:
        raise SystemExit("expected at least 97 %")


if __name__ == "__main__":
    main()
