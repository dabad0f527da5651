"""Layers with state, alone and as replicas over the parts of a batch."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import f64, per_channel

import pybn_api
from pybn_api.nn import BatchNorm, Replicas

SHAPE = (6, 4, 5, 3)


def make(dtype=np.float32, seed=0, shape=SHAPE):
    random = np.random.default_rng(seed)
    return [(1 + 2 * random.standard_normal(shape)).astype(dtype) for _ in range(3)]


def reference(x, dy, weight, bias, residual=None, relu=False, eps=1e-5):
    """Output and gradients in float64, from the definition."""
    x, dy = f64(x), f64(dy)
    axes = (0, 2, 3)
    n = x.size // x.shape[1]
    mean, var = x.mean(axes), x.var(axes)
    invstd = 1 / np.sqrt(var + eps)
    spread = lambda v: per_channel(v, x.ndim)  # noqa: E731
    xhat = (x - spread(mean)) * spread(invstd)
    y = xhat * spread(f64(weight)) + spread(f64(bias))
    if residual is not None:
        y = y + f64(residual)
    if relu:
        dy = np.where(y > 0, dy, 0)
        y = np.maximum(y, 0)
    grad_weight, grad_bias = (dy * xhat).sum(axes), dy.sum(axes)
    dx = spread(f64(weight) * invstd) * (dy - spread(grad_bias / n) - xhat * spread(grad_weight / n))
    return y, dx, grad_weight, grad_bias, dy


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("with_residual", [False, True])
def test_forward_and_backward(relu, with_residual):
    x, dy, residual = make(np.float64)
    layer = BatchNorm(4, activation="relu" if relu else "identity", dtype=np.float64)
    layer.weight[...], layer.bias[...] = [1, -2, 0.5, 3], [0, 1, -1, 0.25]
    given = residual if with_residual else None
    y = layer(x, given)
    result = layer.backward(dy)
    want = reference(x, dy, layer.weight, layer.bias, given, relu)
    np.testing.assert_allclose(y, want[0], rtol=1e-12, atol=1e-12)
    grad_input = result[0] if with_residual else result
    np.testing.assert_allclose(grad_input, want[1], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(layer.grad_weight, want[2], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(layer.grad_bias, want[3], rtol=1e-11, atol=1e-11)
    if with_residual:
        np.testing.assert_array_equal(result[1], want[4])


def test_gradients_are_those_of_differences():
    x, dy, _ = make(np.float64, shape=(3, 2, 2, 2))
    layer = BatchNorm(2, activation="relu", dtype=np.float64, track_running_stats=False)
    layer.weight[...], layer.bias[...] = [1.5, -0.7], [0.1, 0.2]
    layer(x)
    grad = layer.backward(dy)
    step = 1e-6
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        slope = ((layer(up) - layer(down)) * dy).sum() / (2 * step)
        assert abs(slope - grad[index]) < 1e-6 * max(1, abs(slope))


@pytest.mark.parametrize("momentum", [0.1, 1.0, None])
def test_running_statistics(momentum):
    layer = BatchNorm(4, momentum=momentum, dtype=np.float64)
    mean, var = np.zeros(4), np.ones(4)
    for step in range(4):
        x = make(np.float64, step)[0]
        layer(x)
        share = 1 / (step + 1) if momentum is None else momentum
        mean = (1 - share) * mean + share * x.mean((0, 2, 3))
        var = (1 - share) * var + share * x.var((0, 2, 3), ddof=1)
        np.testing.assert_allclose(layer.running_mean, mean, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(layer.running_var, var, rtol=1e-12)
    assert layer.num_batches_tracked == 4
    x, dy, _ = make(np.float64, 9)
    layer.eval()
    kept = layer.state_dict()
    y = layer(x)
    scale = 1 / np.sqrt(per_channel(var, 4) + layer.eps)
    np.testing.assert_allclose(y, (x - per_channel(mean, 4)) * scale, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(layer.backward(dy), dy * scale, rtol=1e-12)
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(value, kept[name])


def test_without_running_statistics_inference_uses_the_batch():
    x = make()[0]
    layer = BatchNorm(4, track_running_stats=False)
    trained = layer(x)
    np.testing.assert_array_equal(layer.eval()(x), trained)


def test_state_dict_goes_to_and_from_torch():
    torch = pytest.importorskip("torch")
    x = make()[0]
    theirs = torch.nn.BatchNorm2d(4)
    theirs(torch.from_numpy(x))
    layer = BatchNorm(4)
    layer.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    layer.eval()
    theirs.eval()
    with torch.no_grad():
        np.testing.assert_allclose(layer(x), theirs(torch.from_numpy(x)).numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(KeyError):
        layer.load_state_dict({"weight": np.ones(4)})
    with pytest.raises(pybn_api.InvalidArgument, match="weight: shape"):
        layer.load_state_dict({**layer.state_dict(), "weight": np.ones(3)})


def test_profiling_records_both_ways():
    x, dy, _ = make()
    layer = BatchNorm(4, profiling=True)
    layer(x)
    layer.backward(dy)
    assert set(layer.elapsed_ms) == {"forward", "backward"}
    assert all(value >= 0 for value in layer.elapsed_ms.values())


def test_backward_needs_a_forward():
    with pytest.raises(RuntimeError, match="backward before forward"):
        BatchNorm(4).backward(np.zeros(SHAPE, "f4"))


@pytest.mark.parametrize("activation", ["identity", "relu"])
@pytest.mark.parametrize("sizes", [(3, 3), (1, 4, 1), (6, 0), (2, 2, 2)], ids=str)
def test_replicas_are_one_layer(sizes, activation):
    """Outputs, gradients, running statistics and, after some steps, parameters are those of one layer on the
    whole batch; and those of all replicas are the same bits."""
    one = BatchNorm(4, activation=activation, dtype=np.float64)
    many = Replicas(BatchNorm(4, activation=activation, dtype=np.float64), len(sizes))
    cuts = np.cumsum(sizes)[:-1]
    for step in range(3):
        x, dy, residual = make(np.float64, step)
        parts, grads, extras = (np.split(a, cuts) for a in (x, dy, residual))
        y = one(x, residual)
        ys = many(parts, extras)
        np.testing.assert_allclose(np.concatenate(ys), y, rtol=1e-9, atol=1e-10)
        grad, grad_residual = one.backward(dy)
        results = many.backward(grads)
        np.testing.assert_allclose(np.concatenate([r[0] for r in results]), grad, rtol=1e-8, atol=1e-9)
        np.testing.assert_array_equal(np.concatenate([r[1] for r in results]), grad_residual)
        one.step(0.1)
        many.step(0.1)
        for layer in many.layers:
            for name, value in one.state_dict().items():
                np.testing.assert_allclose(layer.state_dict()[name], value, rtol=1e-9, atol=1e-10)
                first = np.asarray(many.layers[0].state_dict()[name])
                assert np.asarray(layer.state_dict()[name]).tobytes() == first.tobytes()
    parts = np.split(make(np.float64, 7)[0], cuts)
    inference = np.concatenate(many.eval()(parts))
    np.testing.assert_allclose(inference, one.eval()(np.concatenate(parts)), rtol=1e-9, atol=1e-10)


def test_replicas_in_float32_with_large_means():
    """The merge of statistics keeps float64, so splitting costs nothing visible in float32."""
    x = (1e4 + np.random.default_rng(0).standard_normal(SHAPE)).astype("f4")
    one, many = BatchNorm(4), Replicas(BatchNorm(4), 2)
    whole = one(x)
    parts = np.concatenate(many(np.split(x, 2)))
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-5)
    with pytest.raises(pybn_api.InvalidArgument, match="3 parts"):
        many(np.split(x, 3))


def test_saved_statistics():
    x = make(np.float64)[0]
    layer = BatchNorm(4, dtype=np.float64)
    assert layer.save_mean is None
    layer(x)
    np.testing.assert_allclose(layer.save_mean, x.mean((0, 2, 3)), rtol=1e-13)
    np.testing.assert_allclose(layer.save_invstd, 1 / np.sqrt(x.var((0, 2, 3)) + layer.eps), rtol=1e-13)
    layer.eval()(x)
    assert layer.save_mean is None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_tensors_of_torch(dtype):
    """Results are tensors, parameters numpy's; the numbers are those of the same data in numpy."""
    torch = pytest.importorskip("torch")
    kind = getattr(torch, dtype)
    x, dy, residual = (torch.from_numpy(a).to(kind) for a in make())
    layer, same = (BatchNorm(4, activation="relu") for _ in range(2))
    y = layer(x, residual)
    grad, grad_residual = layer.backward(dy)
    assert y.dtype == grad.dtype == grad_residual.dtype == kind
    assert isinstance(layer.grad_weight, np.ndarray)
    assert isinstance(layer.save_mean, np.ndarray)
    layer.step(0.1)
    same(x.float().numpy(), residual.float().numpy())
    # Statistics of the same numbers; their output is rounded to bfloat16 here and not there.
    np.testing.assert_array_equal(layer.save_mean, same.save_mean)
    np.testing.assert_array_equal(layer.running_var, same.running_var)
    if dtype == "float32":
        same.backward(dy.numpy())
        same.step(0.1)
        np.testing.assert_array_equal(layer.weight, same.weight)
    theirs = torch.nn.BatchNorm2d(4)
    layer.load_state_dict(theirs.state_dict())
    np.testing.assert_array_equal(layer.weight, 1)
    many = Replicas(BatchNorm(4), 2)
    assert all(isinstance(part, torch.Tensor) for part in many([x[:2], x[2:]]))
    assert all(isinstance(part, torch.Tensor) for part in many.backward([dy[:2], dy[2:]]))
    many.step(0.1)


def test_replicas_take_one_state_and_measure():
    x, dy, _ = make()
    many = Replicas(BatchNorm(4, profiling=True), 3)
    state = {**many.state_dict(), "weight": np.full(4, 2, "f4"), "num_batches_tracked": 5}
    many.load_state_dict(state)
    for layer in many.layers:
        np.testing.assert_array_equal(layer.weight, 2)
        assert layer.num_batches_tracked == 5
    parts = np.array_split(x, 3)
    many(parts)
    many.backward(np.array_split(dy, 3))
    assert set(many.elapsed_ms) == {"forward", "backward"}
    # The whole contains what each part's own operator took.
    for name, whole in many.elapsed_ms.items():
        assert sum(layer.elapsed_ms[name] for layer in many.layers) <= whole
