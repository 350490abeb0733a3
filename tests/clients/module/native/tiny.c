#include <Python.h>

static PyObject *add(PyObject *self, PyObject *args)
{
  long a, b;
  (void)self;
  if (!PyArg_ParseTuple(args, "ll", &a, &b))
    return NULL;
  if (a < 0) {
    PyErr_SetString(PyExc_ValueError, "negative");
    return NULL;
  }
  return PyLong_FromLong(a + b);
}

static PyMethodDef methods[] = {{"add", add, METH_VARARGS, "Adds."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tiny", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tiny(void)
{
  PyObject *created = PyModule_Create(&module);
#ifdef Py_GIL_DISABLED
  if (created)
    PyUnstable_Module_SetGIL(created, Py_MOD_GIL_NOT_USED);
#endif
  return created;
}
