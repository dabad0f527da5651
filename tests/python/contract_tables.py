"""The argument rules of every operator, in the order in which they are checked."""

from __future__ import annotations

from contract import (
    BF16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    HWCN,
    INNER_NULLPTR,
    INT8,
    INT32,
    INT64,
    INVALID,
    NC,
    NCDHW,
    NCHW,
    NCL,
    ND,
    NDHWC,
    NHWC,
    NULLPTR,
    PRIVATE,
    UINT8,
    D,
    Rows,
    S,
)

X = D((2, 3, 4, 5), label=NCHW)
V = D((3,))
GARBAGE = D((7, 7, -1), dtype=INT8, label=3, strides=(0, 0, 0))
EMPTY = (0, 3, 4, 5)
NO_CHANNELS = (2, 0, 4, 5)
FLOATS = (FLOAT, FLOAT16, BF16, DOUBLE)
# Labels by rank where NHWC and NDHWC move the channels, and the shape with 3 channels under each.
BY_RANK = [
    *(
        ((2, 3, *(2,) * (rank - 2)), label)
        for rank in (2, 3, 6, 7, 8)
        for label in (ND, NC, NCL, NCHW, NCDHW)
    ),
    *(((2, 3, 2, 2), label) for label in (ND, NCHW)),
    ((2, 2, 2, 3), NHWC),
    ((2, 3, 2, 2, 2), NCDHW),
    ((2, 2, 2, 2, 3), NDHWC),
]
NOT_BY_RANK = [
    *(((2, 3, 2, 2), label) for label in (NC, NCL, NCDHW, NDHWC, HWCN, *PRIVATE)),
    *(((2, 3, 2, 2, 2), label) for label in (ND, NCHW, NHWC, NC, NCL, HWCN, *PRIVATE)),
    *(((2, 2, 3), label) for label in (NHWC, NDHWC, HWCN, *PRIVATE)),
]


def forward(operator: str, residual: bool) -> Rows:
    more = {"residual": X} if residual else {}
    activation = {"activation": 0} if residual else {}
    t = Rows(
        operator,
        {
            "input": X,
            "weight": V,
            "bias": V,
            "runningMean": V,
            "runningVar": V,
            **more,
            "training": True,
            "momentum": 0.1,
            "eps": 1e-5,
            **activation,
            "output": X,
            "saveMean": V,
            "saveInvstd": V,
        },
    )
    data = "input output residual" if residual else "input output"
    if residual:
        for value in (2, 99):
            t.row(INVALID, "activation", {"activation": value})
    t.nulls("input", "output", "saveMean", "saveInvstd")
    t.impossible("input weight bias runningMean runningVar output saveMean saveInvstd")
    t.shortcut(t.changed("input", shape=EMPTY))
    t.shortcut(t.changed("input", shape=(2, 3, 0, 5), label=3, dtype=INT8))
    t.not_floats("input output")
    t.not_floats("saveMean saveInvstd", when_empty=True)
    t.not_floats("weight bias runningMean runningVar")
    t.change("output", label=ND)
    for shape, label in NOT_BY_RANK:
        t.together(data, "input", shape=shape, label=label)
    for rank in (1, 9):
        t.together(data, "input", shape=(3,) * rank, label=ND)
    t.change("output", shape=(2, 3, 5, 4))
    t.change("output", shape=(2, 3, 20))
    for shape in ((4,), (3, 1), (1,), (0,), ()):
        t.change("weight bias runningMean runningVar", shape=shape)
    for shape in ((4,), (3, 1), (0,), ()):
        t.change("saveMean saveInvstd", shape=shape)
    for dtype in (FLOAT16, BF16, DOUBLE):
        t.change("output", dtype=dtype)
    if residual:
        t.change("residual", dtype=FLOAT16)
        t.change("residual", label=ND)
        t.change("residual", shape=(2, 3, 5, 4))
    t.twice("output")
    t.twice("runningMean runningVar")
    t.twice("saveMean saveInvstd", when_empty=True)

    t.accept(training=False, saveMean=None, saveInvstd=None)
    t.accept(training=False, saveMean=GARBAGE, saveInvstd=GARBAGE)
    t.accept(training=False, runningMean=D((3,), strides=(0,)), weight=D((3,), strides=(0,)))
    t.accept(weight=None, bias=None, runningMean=None, runningVar=None)
    t.accept(runningMean=None)
    t.accept(runningVar=None, momentum=float("nan"), eps=-1.0)
    t.accept(output=D((2, 3, 4, 5), label=NCHW, strides=(-60, 20, -5, -1)))
    t.accept(input=D((2, 3, 4, 5), label=NCHW, strides=(0, 0, 0, 0)))
    for dtype in FLOATS:
        t.accept(**t.changed(data, dtype=dtype), weight=D((3,), FLOAT16), bias=D((3,), BF16))
        t.accept(runningMean=D((3,), dtype), saveMean=D((3,), dtype, label=3))
    for shape, label in BY_RANK:
        t.accept(**t.changed(data, shape=shape, label=label))
    t.accept(**t.changed("input", shape=NO_CHANNELS), weight=GARBAGE_SHAPE, output=D((1,), INT8))
    return t


GARBAGE_SHAPE = D((7, 7), dtype=INT8, label=3)


def backward(operator: str) -> Rows:
    act = operator == "BatchNormActBackward"
    fast = operator == "FastBatchNormBackward"
    t = Rows(
        operator,
        {
            "gradOut": X,
            "input": X,
            **({"output": X} if act else {}),
            "weight": V,
            "runningMean": V,
            "runningVar": V,
            "saveMean": V,
            "saveInvstd": V,
            "training": True,
            "eps": 1e-5,
            **({"activation": 1} if act else {}),
            "outputMask": [True] * (4 if act else 3),
            **({"version": 0} if fast else {}),
            "gradInput": X,
            "gradWeight": V,
            "gradBias": V,
            **({"gradResidual": X} if act else {}),
        },
    )
    data = "gradOut input gradInput" + (" output gradResidual" if act else "")
    parameters = "weight runningMean runningVar saveMean saveInvstd"
    t.nulls("gradOut", "input")
    if act:
        t.nulls("output")
    t.impossible("gradOut input weight saveMean")
    t.shortcut(t.changed("input", shape=EMPTY))
    t.shortcut(t.changed("gradOut", shape=(2, 3, 0, 5), label=3, dtype=INT8))
    for mask in (None, [], [True], [True, True], [True] * 5):
        t.row(NULLPTR, "outputMask", {"outputMask": mask})
    t.nulls("gradInput", "gradWeight", "gradBias")
    if act:
        t.nulls("gradResidual")
    t.impossible("gradInput")
    t.impossible("gradWeight gradBias", when_empty=True)
    t.not_floats("gradOut input")
    t.change("input", dtype=FLOAT16)
    t.not_floats("gradInput gradWeight gradBias")
    t.not_floats(parameters)
    if not fast:
        t.change(parameters, dtype=FLOAT16)
        t.row(INVALID, "runningVar", t.changed("runningMean", dtype=DOUBLE))
        t.row(INVALID, "saveInvstd", t.changed("saveMean", dtype=DOUBLE))
    t.change("gradInput", dtype=FLOAT16)
    if not fast:
        t.change("gradWeight gradBias", dtype=BF16)
        t.change("gradBias", dtype=DOUBLE)
    t.change("input gradInput", label=ND)
    if fast:
        for label in (NHWC, NDHWC, HWCN, *PRIVATE):
            t.together(data, "gradOut", label=label)
    else:
        for shape, label in NOT_BY_RANK:
            t.together(data, "input", shape=shape, label=label)
    for rank in (1, 9):
        t.together(data, "input", shape=(3,) * rank, label=ND)
    t.change("input", shape=(2, 3, 5, 4))
    t.change("gradInput", shape=(2, 3, 5, 4))
    t.change("gradInput", shape=(2, 3))
    for shape in ((4,), (3, 1), (0,), ()):
        t.change(parameters, shape=shape)
    if act:
        for fields in ({"dtype": FLOAT16}, {"label": ND}, {"shape": (2, 3, 5, 4)}):
            t.change("output gradResidual", **fields)
    for shape in ((4,), (3, 1), ()):
        t.change("gradWeight gradBias", INNER_NULLPTR if fast else INVALID, shape=shape)
    t.change("gradInput", strides=(60, 20, 5, 0), status=INVALID)
    t.change("gradWeight gradBias", strides=(0,), when_empty=True)

    off = [False] * (4 if act else 3)
    t.accept(outputMask=off, gradInput=None, gradWeight=None, gradBias=None)
    t.accept(outputMask=off, gradInput=GARBAGE, gradWeight=GARBAGE, gradBias=GARBAGE)
    for i, name in enumerate(("gradInput", "gradWeight", "gradBias", "gradResidual")[: len(off)]):
        mask = [True] * len(off)
        mask[i] = False
        t.accept(outputMask=mask, **{name: None})
        t.accept(outputMask=mask, **{name: GARBAGE})
    t.accept(training=False, saveMean=D((0,)), saveInvstd=D((0,)))
    t.accept(weight=None, runningMean=None, runningVar=None, saveMean=None, saveInvstd=None)
    t.accept(weight=None, **t.changed("gradWeight gradBias", dtype=BF16))
    t.accept(
        **t.changed(data, dtype=FLOAT16),
        weight=D((3,), FLOAT16),
        gradWeight=D((3,), FLOAT16),
        gradBias=D((3,), FLOAT16),
    )
    for dtype in FLOATS:
        t.accept(**t.changed(data, dtype=dtype))
    t.accept(saveMean=D((3,), DOUBLE), saveInvstd=D((3,), DOUBLE))
    t.accept(weight=D((3,), DOUBLE), gradWeight=D((3,), DOUBLE), gradBias=D((3,), DOUBLE))
    if fast:
        t.accept(**t.changed(data, shape=(2, 3, 2, 2, 2), label=ND), version=77)
        t.accept(training=False, saveMean=D((9, 2)), saveInvstd=D(()))
        t.accept(
            weight=D((3,), BF16),
            saveMean=D((3,), FLOAT16),
            gradWeight=D((3,), BF16),
            gradBias=D((3,), FLOAT16),
        )
    else:
        for shape, label in BY_RANK:
            t.accept(**t.changed(data, shape=shape, label=label))
    if act:
        t.accept(activation=0, output=None)
    t.accept(**t.changed("input", shape=NO_CHANNELS), outputMask=None, gradWeight=None)
    return t


def stats() -> Rows:
    t = Rows("BatchNormStats", {"input": X, "eps": 1e-5, "mean": V, "invstd": V})
    t.nulls("input", "mean", "invstd")
    t.impossible("input mean invstd")
    t.not_floats("input")
    for dtype in (FLOAT16, BF16, INT32):
        t.change("mean invstd", dtype=dtype)
    for label in PRIVATE:
        t.change("input mean invstd", label=label)
    for rank in (0, 1, 9):
        t.change("input", shape=(3,) * rank)
    t.change("mean invstd", shape=(3, 1))
    t.change("mean invstd", shape=())
    t.change("input", shape=NO_CHANNELS)
    t.change("mean invstd", shape=(4,))
    t.change("mean invstd", shape=(0,))
    t.twice("mean invstd")
    t.accept(input=D(EMPTY), eps=float("nan"))
    t.accept(mean=D((3,), DOUBLE))
    for label in (ND, NC, NCL, NCHW, NCDHW, NHWC, NDHWC, HWCN):
        t.accept(input=D((2, 3, 4, 5), BF16, label))
    return t


def elemt() -> Rows:
    t = Rows(
        "BatchNormElemt",
        {
            "input": X,
            "weight": V,
            "bias": V,
            "mean": V,
            "invstd": V,
            "eps": 1e-5,
            "output": X,
        },
    )
    t.nulls("input", "mean", "invstd", "output")
    t.impossible("input weight output")
    t.not_floats("input weight bias mean invstd output")
    t.change("output", label=ND)
    for label in (NHWC, NDHWC, HWCN, *PRIVATE):
        t.together("input output", "input", label=label)
    for rank in (1, 9):
        t.together("input output", "input", shape=(3,) * rank)
    t.change("output", shape=(2, 3, 5, 4))
    t.together("input output", "input", shape=NO_CHANNELS)
    for shape in ((3, 1), (), (4,), (0,)):
        t.change("weight bias mean invstd", shape=shape)
    t.change("output", dtype=FLOAT16)
    t.twice("output")
    t.accept(weight=None, bias=None)
    t.accept(**t.changed("input output", shape=EMPTY))
    for rank in range(2, 9):
        for label in (ND, NC, NCL, NCHW, NCDHW):
            t.accept(**t.changed("input output", shape=(2, 3, *(2,) * (rank - 2)), label=label))
    t.accept(weight=D((3,), BF16), bias=D((3,), FLOAT16), mean=D((3,), DOUBLE), invstd=D((3,), label=3))
    return t


def gather() -> Rows:
    k = D((2, 3))
    t = Rows(
        "BatchNormGatherStatsWithCounts",
        {
            "input": X,
            "mean": k,
            "invstd": k,
            "runningMean": V,
            "runningVar": V,
            "momentum": 0.1,
            "eps": 1e-5,
            "counts": D((2,)),
            "meanAll": V,
            "invstdAll": V,
        },
    )
    t.nulls("input", "mean", "invstd", "counts", "meanAll", "invstdAll")
    t.impossible("input mean invstd runningMean runningVar counts meanAll")
    t.not_floats("input mean invstd runningMean runningVar counts meanAll invstdAll")
    for label in PRIVATE:
        t.change("input mean invstd counts", label=label)
    for rank in (1, 9):
        t.change("input", shape=(3,) * rank)
    t.change("mean invstd", shape=(3,))
    t.change("mean invstd", shape=(2, 3, 1))
    t.row(INVALID, "invstd", t.changed("mean", shape=(4, 3)))
    t.change("invstd", shape=(4, 3))
    t.change("counts", shape=(3,))
    t.change("counts", shape=())
    t.row(INVALID, "mean", t.changed("mean invstd", shape=(2, 4)))
    t.change("invstd", shape=(2, 4))
    t.change("runningMean runningVar", shape=(4,))
    t.change("counts", shape=(2, 1))
    for shape in ((4,), (3, 1), ()):
        t.change("meanAll invstdAll", shape=shape)
    t.twice("runningMean runningVar meanAll invstdAll")
    t.accept(runningMean=None, runningVar=None)
    t.accept(runningMean=None)
    t.accept(mean=D((0, 3)), invstd=D((0, 3)), counts=D((0,)))
    t.accept(input=D((0, 3)), counts=D((2,), FLOAT16), mean=D((2, 3), DOUBLE), meanAll=D((3,), BF16))
    t.accept(
        input=D(NO_CHANNELS),
        mean=D((2, 0)),
        invstd=D((2, 0)),
        runningMean=None,
        runningVar=None,
        meanAll=D((0,)),
        invstdAll=D((0,)),
    )
    return t


def reduce_backward() -> Rows:
    t = Rows(
        "BatchNormReduceBackward",
        {
            "gradOut": X,
            "input": X,
            "mean": V,
            "invstd": V,
            "weight": V,
            "inputG": True,
            "weightG": True,
            "biasG": True,
            "sumDy": V,
            "sumDyXmu": V,
            "gradWeight": V,
            "gradBias": V,
        },
    )
    outputs = "sumDy sumDyXmu gradWeight gradBias"
    t.nulls("gradOut", "input", "mean", "invstd", *outputs.split())
    t.impossible("gradOut input mean weight sumDy")
    t.not_floats("gradOut input mean invstd")
    t.change("gradOut", dtype=FLOAT16)
    t.not_floats(outputs)
    t.change("gradOut", label=ND)
    for label in PRIVATE:
        t.together("gradOut input", "gradOut", label=label)
        t.change("mean invstd", label=label)
    for label in PRIVATE:
        t.change(outputs, label=label)
    for rank in (1, 9):
        t.change("gradOut input", shape=(3,) * rank)
    t.together("gradOut input", "input", shape=NO_CHANNELS)
    for shape in ((4,), (3, 1), ()):
        t.change(outputs, shape=shape)
    t.shortcut(t.changed("gradOut", shape=EMPTY))
    t.shortcut(t.changed("mean", shape=(0,)))
    t.shortcut(t.changed("invstd", shape=(5, 0)))
    t.change("gradOut", shape=(2, 3, 5, 4))
    for shape in ((4,), (3, 1), ()):
        t.change("mean invstd weight", shape=shape)
    t.not_floats("weight")
    t.twice(outputs, when_empty=True)
    off = dict.fromkeys(("inputG", "weightG", "biasG"), False)
    t.accept(**off, **dict.fromkeys(outputs.split()))
    t.accept(**off, **dict.fromkeys(outputs.split(), GARBAGE))
    t.accept(inputG=False, sumDy=None, sumDyXmu=GARBAGE)
    t.accept(weightG=False, gradWeight=GARBAGE)
    t.accept(biasG=False, gradBias=None, weight=None)
    for label in (ND, NC, NCL, NCHW, NCDHW, NHWC, NDHWC, HWCN):
        t.accept(
            **t.changed("gradOut input", label=label, dtype=BF16),
            sumDy=D((3,), DOUBLE),
            gradBias=D((3,), FLOAT16),
        )
    return t


def elemt_backward() -> Rows:
    t = Rows(
        "BatchNormElemtBackward",
        {
            "gradOut": X,
            "input": X,
            "mean": V,
            "invstd": V,
            "weight": V,
            "sumDy": V,
            "sumDyXmu": V,
            "counter": D((4,), INT32),
            "gradInput": X,
        },
    )
    t.nulls("gradOut", "input", "mean", "invstd", "sumDy", "sumDyXmu", "counter", "gradInput")
    t.impossible("gradOut input mean counter gradInput")
    t.not_floats("gradOut input mean invstd weight sumDy sumDyXmu")
    for dtype in (BF16, INT64, INT8, UINT8):
        t.change("counter", dtype=dtype)
    t.not_floats("gradInput")
    for label in PRIVATE:
        t.change("gradOut input gradInput", label=label)
    t.change("input", shape=(3,))
    t.change("input gradOut gradInput counter", shape=(1,) * 9)
    t.together("gradOut input gradInput", "input", shape=NO_CHANNELS)
    t.change("gradOut gradInput", shape=(2, 3, 5, 4))
    for shape in ((4,), (3, 1), ()):
        t.change("mean invstd weight sumDy sumDyXmu", shape=shape)
    t.twice("gradInput")
    t.accept(weight=None)
    t.accept(**t.changed("gradOut input gradInput", shape=EMPTY))
    for counter in (
        D((), FLOAT),
        D((0,), FLOAT),
        D((2, 2, 1), FLOAT16),
        D((3,), DOUBLE),
        D((1,) * 8, INT32, 3),
    ):
        t.accept(counter=counter)
    t.accept(
        gradOut=D((2, 3, 4, 5), BF16, NHWC), gradInput=D((2, 3, 4, 5), DOUBLE, HWCN), mean=D((3,), FLOAT16)
    )
    return t


def sync_gather() -> Rows:
    k = D((2, 3))
    t = Rows(
        "SyncBatchNormGatherStats",
        {
            "totalSum": k,
            "totalSquareSum": k,
            "sampleCount": D((2,), INT32),
            "mean": V,
            "variance": V,
            "momentum": 0.1,
            "eps": 1e-5,
            "batchMean": V,
            "batchInvstd": V,
        },
    )
    tensors = ("totalSum", "totalSquareSum", "sampleCount", "mean", "variance", "batchMean", "batchInvstd")
    t.nulls(*tensors)
    t.impossible(" ".join(tensors))
    t.not_floats("totalSum totalSquareSum")
    for dtype in (INT8, INT64, UINT8):
        t.change("sampleCount", dtype=dtype)
    t.not_floats("mean variance batchMean batchInvstd")
    t.change("totalSquareSum mean variance", dtype=FLOAT16)
    t.change("batchInvstd", dtype=BF16)
    for label in PRIVATE:
        t.change("totalSum totalSquareSum sampleCount mean variance", label=label)
    t.change("totalSum totalSquareSum", shape=(3,))
    t.change("sampleCount mean variance batchMean batchInvstd", shape=())
    t.change("sampleCount mean variance batchMean batchInvstd", shape=(3, 1))
    t.change("totalSquareSum", shape=(4, 3))
    t.change("totalSquareSum", shape=(2, 4))
    t.change("sampleCount", shape=(3,))
    t.change("mean variance batchMean batchInvstd", shape=(4,))
    t.row(
        INVALID,
        "totalSum",
        {**t.changed("totalSum totalSquareSum", shape=(0, 3)), "sampleCount": D((0,), INT32)},
    )
    t.twice("mean variance batchMean batchInvstd")
    for dtype in (*FLOATS, INT32):
        t.accept(sampleCount=D((2,), dtype))
    t.accept(**t.changed("totalSum totalSquareSum mean variance", dtype=DOUBLE))
    t.accept(**t.changed("batchMean batchInvstd", dtype=BF16, label=3))
    t.accept(
        **t.changed("totalSum totalSquareSum", shape=(2, 0)),
        **t.changed("mean variance batchMean batchInvstd", shape=(0,)),
    )
    return t


def reduce() -> Rows:
    t = Rows("BatchNormReduce", {"x": X, "sum": V, "squareSum": V})
    t.nulls("x", "sum", "squareSum")
    t.impossible("x sum squareSum")
    t.shortcut(t.changed("x", shape=EMPTY, label=3, dtype=INT8))
    t.not_floats("x")
    for dtype in (FLOAT16, BF16, INT32):
        t.change("sum squareSum", dtype=dtype, when_empty=True)
    for label in (ND, NC, NCL, NCDHW, NDHWC, HWCN, *PRIVATE):
        t.change("x", label=label)
    for label in (NCHW, NC, *PRIVATE):
        t.change("sum squareSum", label=label)
    for rank in (3, 5):
        t.change("x", shape=(3,) * rank)
    t.change("sum squareSum", shape=(3, 1))
    t.change("sum squareSum", shape=(4,))
    t.change("x", shape=(2, 3, 4, 5), label=NHWC)  # 5 channels
    t.rows[-1] = type(t.rows[-1])(INVALID, "sum", t.rows[-1].changes)
    t.twice("sum squareSum", when_empty=True)
    t.accept(x=D((2, 4, 5, 3), BF16, NHWC))
    t.accept(sum=D((3,), DOUBLE))
    t.accept(x=D((0,), INT8, 3), sum=D((4, 4)), squareSum=D((2,), label=NCHW))
    t.accept(sum=D((0, 7), INT8))
    return t


def quantized() -> Rows:
    q = D((2, 3, 4, 5), INT8, NCHW)
    t = Rows(
        "QuantizedBatchNorm",
        {
            "input": q,
            "mean": V,
            "var": V,
            "inputScale": S(0.5),
            "inputZeroPoint": S(1, INT32),
            "outputScale": S(0.25),
            "outputZeroPoint": S(2, INT32),
            "weight": V,
            "bias": V,
            "epsilon": 1e-5,
            "output": q,
        },
    )
    t.nulls(
        "input", "output", "mean", "var", "inputScale", "inputZeroPoint", "outputScale", "outputZeroPoint"
    )
    t.impossible("input mean var weight bias output")
    t.change("input", shape=EMPTY)
    t.change("mean var weight bias", shape=(0,))
    for dtype in (FLOAT, FLOAT16, INT64, DOUBLE):
        t.change("input output", dtype=dtype)
    t.change("output", label=ND)
    for label in (NHWC, NC, NCL, NCDHW, NDHWC, HWCN, *PRIVATE):
        t.together("input output", "input", label=label)
    t.change("output", shape=(2, 3, 5, 4))
    for dtype in (FLOAT16, BF16, INT32):
        t.change("weight bias mean var", dtype=dtype)
    for rank in (1, 2, 3, 5):
        t.together("input output", "input", shape=(3,) * rank)
    for shape in ((4,), (3, 1), ()):
        t.change("weight bias mean var", shape=shape)
    for name in ("inputScale", "outputScale"):
        t.row(INVALID, name, {name: S(1, INT32)})
    for name in ("inputZeroPoint", "outputZeroPoint"):
        t.row(INVALID, name, {name: S(1.0)})
        t.row(INVALID, name, {name: S(1, INT64)})
    t.change("output", dtype=UINT8)
    t.twice("output")
    t.accept(weight=None, bias=None, epsilon=-1.0)
    for dtype in (INT8, UINT8, INT32):
        t.accept(**t.changed("input output", dtype=dtype, label=ND))
    t.accept(mean=D((3,), DOUBLE), inputScale=S(0.5, DOUBLE))
    return t


TABLES = [
    forward("BatchNorm", residual=False),
    forward("BatchNormAct", residual=True),
    backward("BatchNormBackward"),
    backward("FastBatchNormBackward"),
    backward("BatchNormActBackward"),
    stats(),
    elemt(),
    gather(),
    reduce_backward(),
    elemt_backward(),
    sync_gather(),
    reduce(),
    quantized(),
]
