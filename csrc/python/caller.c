/* pybn_api._caller: what a planned call costs most in Python, in C.
 *
 * A Caller aims a repeatable executor at arrays, runs it and waits. A Quick also remembers what the arrays of a plan
 * look like, and for arrays that look the same it makes the outputs and calls, all in one crossing. NumPy arrays are
 * read in place, any other array is passed as its address. The library's functions come as addresses, so that this
 * module links to nothing.
 */
#include <Python.h>
#include <stdatomic.h>
#include <string.h>

#include "bn_api.h"

enum { kMostPlaces = 16, kMostDims = 8 };

/* The head of an ndarray object: part of NumPy's binary interface, checked by numpy_family.py at import. */
typedef struct {
  PyObject_HEAD void* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
} NumpyArray;

enum { kWriteable = 0x0400 };

/* ---- Caller ---------------------------------------------------------------------------------------------------- */

typedef bnapiStatus (*PhaseTwo)(void* workspace, uint64_t size, bnapiOpExecutor* executor,
                                bnapiStream stream);

typedef struct {
  PyObject_HEAD bnapiStatus (*aim)(bnapiOpExecutor* executor, void* const* addresses, size_t count);
  PhaseTwo run;
  bnapiStatus (*synchronize)(bnapiStream stream);
  bnapiOpExecutor* executor;
  void* workspace;
  uint64_t workspace_size;
} Caller;

/* Caller(aim, run, synchronize, executor, workspace, workspace_size), all as integers. */
static PyObject* caller_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  unsigned long long aim, run, synchronize, executor, workspace, size;
  Caller* self;
  (void)keywords;
  if (!PyArg_ParseTuple(arguments, "KKKKKK", &aim, &run, &synchronize, &executor, &workspace, &size))
    return NULL;
  self = (Caller*)PyType_GenericNew(type, NULL, NULL);
  if (self == NULL) return NULL;
  self->aim = (bnapiStatus (*)(bnapiOpExecutor*, void* const*, size_t))(uintptr_t)aim;
  self->run = (PhaseTwo)(uintptr_t)run;
  self->synchronize = (bnapiStatus (*)(bnapiStream))(uintptr_t)synchronize;
  self->executor = (bnapiOpExecutor*)(uintptr_t)executor;
  self->workspace = (void*)(uintptr_t)workspace;
  self->workspace_size = size;
  return (PyObject*)self;
}

static void caller_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* Addresses of a list's arrays: None, an integer that is one, or an ndarray. */
static Py_ssize_t addresses_of(PyObject* list, void** addresses, Py_ssize_t count) {
  Py_ssize_t i, size;
  if (!PyList_Check(list) || (size = PyList_Size(list)) > kMostPlaces - count) {
    PyErr_SetString(PyExc_TypeError, "a call takes two lists of arrays, at most 16 in all");
    return -1;
  }
  for (i = 0; i < size; ++i) {
    PyObject* array = PyList_GetItem(list, i);
    if (array == Py_None) {
      addresses[count++] = NULL;
    } else if (PyLong_Check(array)) {
      addresses[count++] = PyLong_AsVoidPtr(array);
      if (PyErr_Occurred()) return -1;
    } else {
      addresses[count++] = ((const NumpyArray*)array)->data;
    }
  }
  return count;
}

/* The interpreter is free meanwhile. */
static bnapiStatus aim_and_run(const Caller* self, void* const* addresses, Py_ssize_t count,
                               bnapiStream stream, int wait) {
  bnapiStatus status;
  Py_BEGIN_ALLOW_THREADS status = self->aim(self->executor, addresses, (size_t)count);
  if (status == BNAPI_SUCCESS)
    status = self->run(self->workspace, self->workspace_size, self->executor, stream);
  if (status == BNAPI_SUCCESS && wait) status = self->synchronize(stream);
  Py_END_ALLOW_THREADS return status;
}

/* caller.run(inputs, outputs, stream, wait) -> status */
static PyObject* caller_run(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  const Caller* self = (const Caller*)object;
  void* addresses[kMostPlaces];
  Py_ssize_t places;
  bnapiStream stream;
  int wait;
  if (count != 4) return PyErr_Format(PyExc_TypeError, "run(inputs, outputs, stream, wait)");
  places = addresses_of(arguments[0], addresses, 0);
  if (places >= 0) places = addresses_of(arguments[1], addresses, places);
  if (places < 0) return NULL;
  stream = (bnapiStream)PyLong_AsVoidPtr(arguments[2]);
  wait = PyObject_IsTrue(arguments[3]);
  if (PyErr_Occurred()) return NULL;
  return PyLong_FromLong(aim_and_run(self, addresses, places, stream, wait));
}

static PyMethodDef caller_methods[] = {
    {"run", (PyCFunction)(void (*)(void))caller_run, METH_FASTCALL,
     "run(inputs, outputs, stream, wait) -> status"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot caller_slots[] = {
    {Py_tp_new, (void*)caller_new},
    {Py_tp_dealloc, (void*)caller_dealloc},
    {Py_tp_methods, caller_methods},
    {0, NULL},
};
static PyType_Spec caller_spec = {"pybn_api._caller.Caller", sizeof(Caller), 0, Py_TPFLAGS_DEFAULT,
                                  caller_slots};

/* ---- Quick ----------------------------------------------------------------------------------------------------- */

typedef struct {
  PyObject* dtype; /* held by the list of them; NULL: None is expected */
  int ndim;
  int flags; /* that the array must have */
  Py_ssize_t shape[kMostDims];
  Py_ssize_t strides[kMostDims];
} Place;

typedef struct {
  PyObject_HEAD PyTypeObject* ndarray;
  PyObject* caller;
  PyObject* dtypes;
  PyObject* makers;
  /* Where there are several devices: a call goes to the default stream of the current one if the arrays are there,
   * else to `away`. */
  bnapiStatus (*get_device)(int32_t* device);
  int32_t device;
  bnapiStream away;
  int given; /* outputs come with the call */
  Py_ssize_t inputs;
  Py_ssize_t count; /* inputs, and outputs that are given */
  atomic_flag busy;
  Place places[kMostPlaces];
} Quick;

static int quick_add(Quick* self, PyObject* array, int written) {
  Place* place = &self->places[self->count++];
  const NumpyArray* numpy = (const NumpyArray*)array;
  if (array == Py_None) return 0;
  if (Py_TYPE(array) != self->ndarray || numpy->ndim > kMostDims) {
    PyErr_SetString(PyExc_TypeError, "ndarrays of at most 8 axes, or None");
    return -1;
  }
  if (PyList_Append(self->dtypes, numpy->dtype) < 0) return -1;
  place->dtype = numpy->dtype;
  place->ndim = numpy->ndim;
  place->flags = written ? kWriteable : 0;
  memcpy(place->shape, numpy->shape, (size_t)numpy->ndim * sizeof(Py_ssize_t));
  memcpy(place->strides, numpy->strides, (size_t)numpy->ndim * sizeof(Py_ssize_t));
  return 0;
}

static int quick_fill(Quick* self, PyObject* inputs, PyObject* outputs, PyObject* written) {
  Py_ssize_t i;
  self->inputs = PyList_Size(inputs);
  self->given = outputs != Py_None;
  self->dtypes = PyList_New(0);
  if (self->dtypes == NULL) return -1;
  for (i = 0; i < self->inputs; ++i) {
    const int is_written = PyObject_IsTrue(PyList_GetItem(written, i));
    if (is_written < 0 || quick_add(self, PyList_GetItem(inputs, i), is_written) < 0) return -1;
  }
  for (i = 0; self->given && i < PyList_Size(outputs); ++i) {
    if (quick_add(self, PyList_GetItem(outputs, i), 1) < 0) return -1;
  }
  return 0;
}

/* Quick(ndarray, caller, inputs, written, outputs, makers, get_device, device, away): `written` holds a bool for each
 * input, `outputs` is None or a list, `makers` holds for each output a function that allocates it, or None;
 * `get_device` and `away` are addresses, 0 where there is only one device. */
static PyObject* quick_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject *ndarray, *caller, *inputs, *written, *outputs, *makers;
  unsigned long long get_device, away;
  int device;
  Quick* self;
  (void)keywords;
  if (!PyArg_ParseTuple(arguments, "OOO!O!OO!KiK", &ndarray, &caller, &PyList_Type, &inputs, &PyList_Type,
                        &written, &outputs, &PyList_Type, &makers, &get_device, &device, &away)) {
    return NULL;
  }
  if (!PyType_Check(ndarray) || PyList_Size(inputs) != PyList_Size(written) ||
      PyList_Size(inputs) + PyList_Size(makers) > kMostPlaces ||
      (outputs != Py_None && (!PyList_Check(outputs) || PyList_Size(outputs) != PyList_Size(makers)))) {
    return PyErr_Format(PyExc_TypeError, "Quick: lists that do not fit");
  }
  self = (Quick*)PyType_GenericNew(type, NULL, NULL);
  if (self == NULL) return NULL;
  Py_INCREF(ndarray);
  Py_INCREF(caller);
  Py_INCREF(makers);
  self->ndarray = (PyTypeObject*)ndarray;
  self->caller = caller;
  self->makers = makers;
  self->get_device = (bnapiStatus (*)(int32_t*))(uintptr_t)get_device;
  self->device = device;
  self->away = (bnapiStream)(uintptr_t)away;
  atomic_flag_clear(&self->busy);
  if (quick_fill(self, inputs, outputs, written) == 0) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

static void quick_dealloc(PyObject* object) {
  Quick* self = (Quick*)object;
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF((PyObject*)self->ndarray);
  Py_XDECREF(self->caller);
  Py_XDECREF(self->dtypes);
  Py_XDECREF(self->makers);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int fits(const Place* place, const PyTypeObject* ndarray, PyObject* array) {
  const NumpyArray* numpy = (const NumpyArray*)array;
  size_t bytes;
  if (place->dtype == NULL) return array == Py_None;
  if (Py_TYPE(array) != ndarray || numpy->dtype != place->dtype || numpy->ndim != place->ndim) return 0;
  if ((numpy->flags & place->flags) != place->flags) return 0;
  bytes = (size_t)numpy->ndim * sizeof(Py_ssize_t);
  return memcmp(numpy->shape, place->shape, bytes) == 0 && memcmp(numpy->strides, place->strides, bytes) == 0;
}

static int all_fit(const Quick* self, PyObject* inputs, PyObject* outputs) {
  Py_ssize_t i;
  if (!PyList_Check(inputs) || PyList_Size(inputs) != self->inputs || self->given != (outputs != Py_None))
    return 0;
  if (self->given && (!PyList_Check(outputs) || PyList_Size(outputs) != self->count - self->inputs)) return 0;
  for (i = 0; i < self->count; ++i) {
    PyObject* array =
        i < self->inputs ? PyList_GetItem(inputs, i) : PyList_GetItem(outputs, i - self->inputs);
    if (!fits(&self->places[i], self->ndarray, array)) return 0;
  }
  return 1;
}

/* The outputs: made, given, or None. */
static PyObject* outputs_of(const Quick* self, PyObject* given) {
  const Py_ssize_t count = PyList_Size(self->makers);
  PyObject* outputs = PyList_New(count);
  Py_ssize_t i;
  for (i = 0; outputs != NULL && i < count; ++i) {
    PyObject* output = PyList_GetItem(self->makers, i);
    if (output != Py_None) {
      output = PyObject_CallNoArgs(output);
    } else {
      if (self->given) output = PyList_GetItem(given, i);
      Py_INCREF(output);
    }
    if (output == NULL || PyList_SetItem(outputs, i, output) < 0) {
      Py_DECREF(outputs);
      return NULL;
    }
  }
  return outputs;
}

/* quick.call(inputs, outputs) -> list of outputs; a status that is not success; or None: the arrays are not certain to
 * be like those it was made of (dtype objects may be equal and not the same), or another thread is calling. */
static PyObject* quick_call(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  Quick* self = (Quick*)object;
  void* addresses[kMostPlaces];
  Py_ssize_t places;
  PyObject* outputs;
  bnapiStatus status = BNAPI_SUCCESS;
  bnapiStream stream = NULL;
  int32_t current;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "call(inputs, outputs)");
  if (!all_fit(self, arguments[0], arguments[1]) || atomic_flag_test_and_set(&self->busy)) Py_RETURN_NONE;
  if (self->get_device != NULL) {
    if (self->get_device(&current) != BNAPI_SUCCESS) current = -1;
    if (current != self->device) stream = self->away;
  }
  outputs = outputs_of(self, arguments[1]);
  if (outputs != NULL) {
    places = addresses_of(arguments[0], addresses, 0);
    if (places >= 0) places = addresses_of(outputs, addresses, places);
    if (places < 0) {
      Py_CLEAR(outputs);
    } else {
      status = aim_and_run((const Caller*)self->caller, addresses, places, stream, 1);
    }
  }
  atomic_flag_clear(&self->busy);
  if (status == BNAPI_SUCCESS) return outputs;
  Py_DECREF(outputs);
  return PyLong_FromLong(status);
}

static PyMethodDef quick_methods[] = {
    {"call", (PyCFunction)(void (*)(void))quick_call, METH_FASTCALL,
     "call(inputs, outputs) -> outputs, status or None"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot quick_slots[] = {
    {Py_tp_new, (void*)quick_new},
    {Py_tp_dealloc, (void*)quick_dealloc},
    {Py_tp_methods, quick_methods},
    {0, NULL},
};
static PyType_Spec quick_spec = {"pybn_api._caller.Quick", sizeof(Quick), 0, Py_TPFLAGS_DEFAULT, quick_slots};

/* ---- module ---------------------------------------------------------------------------------------------------- */

/* peek(array): data, shape, strides, dtype and flags, as this module reads them. */
static PyObject* peek(PyObject* module, PyObject* array) {
  const NumpyArray* numpy = (const NumpyArray*)array;
  PyObject* shape = PyTuple_New(numpy->ndim);
  PyObject* strides = PyTuple_New(numpy->ndim);
  int i;
  (void)module;
  if (shape == NULL || strides == NULL) return NULL;
  for (i = 0; i < numpy->ndim; ++i) {
    PyTuple_SetItem(shape, i, PyLong_FromSsize_t(numpy->shape[i]));
    PyTuple_SetItem(strides, i, PyLong_FromSsize_t(numpy->strides[i]));
  }
  return Py_BuildValue("NNNOO", PyLong_FromVoidPtr(numpy->data), shape, strides, numpy->dtype,
                       numpy->flags & kWriteable ? Py_True : Py_False);
}

static int module_exec(PyObject* module) {
  PyObject* caller = PyType_FromSpec(&caller_spec);
  PyObject* quick = caller == NULL ? NULL : PyType_FromSpec(&quick_spec);
  if (quick == NULL) return -1;
  return PyModule_AddObject(module, "Caller", caller) < 0 || PyModule_AddObject(module, "Quick", quick) < 0
             ? -1
             : 0;
}

static PyMethodDef module_methods[] = {
    {"peek", peek, METH_O, "peek(array) -> (address, shape, strides, dtype, writeable)"},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void*)module_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    "_caller",
    "Planned calls in one crossing to C.",
    0,
    module_methods,
    module_slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__caller(void) {
  return PyModuleDef_Init(&module_definition);
}
