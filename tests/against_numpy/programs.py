"""Short programs about NumPy's behaviour, by family: views, writes, errors, protocols.

Each leaves its result in `r` and is executed with NumPy and with numen as `np`; the other names are
those of `inputs.py`. Run by `test_expressions.py` and `python -m tests.against_numpy`.
"""

PROGRAMS = {
    "in-place operators and assignment": {
        "inplace_add": """
x = a.copy()
x += 1
r = x
""",
        "setitem": """
x = a.copy()
x[1] = 0
r = x
""",
        "setitem_slice": """
x = a.copy()
x[:, 1:3] = b[:2]
r = x
""",
        "setitem_mask": """
x = a.copy()
x[m] = 0
r = x
""",
        "setitem_mask_vals": """
x = a.copy()
x[m] = np.arange(int(m.sum())) * 1.0
r = x
""",
        "setitem_fancy": """
x = a.copy()
x[idx, idx] = 9
r = x
""",
        "ellipsis_set": """
x = t.copy()
x[..., 0] = 0
r = x
""",
        "zero_d": """
x = np.asarray(3.0)
x[()] = 4
r = x
""",
        "loop_1e3": """
x = np.zeros(3)
for k in range(1000):
    x[k % 3] += 1
r = x
""",
    },
    "views": {
        "view_write_through": """
x = a.copy()
y = x[1]
y[0] = 99
r = x
""",
        "view_T_write": """
x = a.copy()
y = x.T
y[0, 1] = 99
r = x
""",
        "view_reshape_write": """
x = a.copy()
y = x.reshape(2, 6)
y[1, 1] = 5
r = x
""",
        "view_negstep_write": """
x = b.copy()
y = x[::-1]
y[0] = 7
r = x
""",
        "view_dtype_write": """
x = np.zeros(2, dtype=np.float32)
x.view(np.int32)[0] = 1065353216
r = x
""",
        "iadd_through_view": """
x = a.copy()
x[1:] += 1
r = x
""",
        "fancy_is_copy": """
x = a.copy()
y = x[idx]
y[0, 0] = 99
r = x
""",
        "fancy_iadd_dup": """
x = np.zeros(3)
x[np.asarray([0, 0, 1])] += 1
r = x
""",
        "base_attr": """
x = a.copy()
r = x[1].base is x
""",
        "shares_memory": """
x = a.copy()
r = np.shares_memory(x, x[1:])
""",
        "flags_c": """
x = a.copy()
r = (bool(x.flags.c_contiguous), bool(x.T.flags.f_contiguous))
""",
        "order_F": """
x = np.zeros((2, 3), order='F')
r = x.strides
""",
        "writeable": """
x = a.copy()
x.flags.writeable = False
try:
    x[0] = 1
    r = 'ok'
except ValueError:
    r = 'ValueError'
""",
    },
    "ufunc arguments": {
        "add_at": """
x = np.zeros(3)
np.add.at(x, np.asarray([0, 0, 1]), 1)
r = x
""",
        "out_arg": """
x = np.zeros((3, 4))
np.add(a, b, out=x)
r = x
""",
        "out_reduce": """
x = np.zeros(4)
np.sum(a, axis=0, out=x)
r = x
""",
        "where_arg": """
x = np.zeros((3, 4))
np.add(a, b, out=x, where=m)
r = x
""",
        "dtype_arg": """
r = np.add(a, b, dtype=np.float32)
""",
        "matmul_bcast": """
r = np.matmul(t, np.ones((2, 4, 2))).shape
""",
    },
    "functions that write": {
        "resize_inplace": """
x = np.arange(4)
x.resize((2, 3), refcheck=False)
r = x
""",
        "sort_inplace": """
x = a.copy()
x.sort(axis=0)
r = x
""",
        "fill": """
x = a.copy()
x.fill(3)
r = x
""",
        "flat_set": """
x = a.copy()
x.flat[5] = 1
r = x
""",
        "flat_iter": """
r = [float(q) for q in a.flat]
""",
        "put": """
x = a.copy()
x.put([0, 5], [9, 8])
r = x
""",
        "putmask": """
x = a.copy()
np.putmask(x, m, 0)
r = x
""",
        "copyto_where": """
x = a.copy()
np.copyto(x, 0, where=m)
r = x
""",
        "place": """
x = a.copy()
np.place(x, m, [1, 2])
r = x
""",
        "put_along_axis": """
x = a.copy()
np.put_along_axis(x, np.argmax(a, axis=1, keepdims=True), 0, axis=1)
r = x
""",
        "fill_diagonal": """
x = S.copy()
np.fill_diagonal(x, 0)
r = x
""",
    },
    "protocols": {
        "buffer": """
r = memoryview(a).shape
""",
        "array_iface": """
r = a.__array_interface__['shape']
""",
        "dlpack": """
import numpy
r = numpy.from_dlpack(f)
""",
        "np_asarray": """
import numpy
r = numpy.asarray(f)
""",
        "np_func_dispatch": """
import numpy
r = type(numpy.concatenate([a, a])) is type(a)
""",
        "np_ufunc_dispatch": """
import numpy
r = type(numpy.sin(a)) is type(a)
""",
        "array_namespace": """
r = hasattr(a, '__array_namespace__')
""",
        "pickle": """
import pickle
r = pickle.loads(pickle.dumps(a))
""",
        "deepcopy": """
import copy
r = copy.deepcopy(a)
""",
        "save_load": """
import io
q = io.BytesIO()
np.save(q, a)
q.seek(0)
r = np.load(q)
""",
    },
    "errors": {
        "casting_err": """
try:
    x = np.arange(3)
    x += 1.5
    r = 'ok'
except TypeError:
    r = 'TypeError'
""",
        "errstate": """
with np.errstate(divide='raise'):
    try:
        np.asarray([1.0]) / 0
        r = 'ok'
    except FloatingPointError:
        r = 'FPE'
""",
        "oob_index": """
try:
    a[10]
    r = 'ok'
except IndexError:
    r = 'IndexError'
""",
        "oob_fancy": """
try:
    a[np.asarray([10])] + 0
    r = 'ok'
except IndexError:
    r = 'IndexError'
""",
        "bcast_err": """
try:
    a + np.zeros(3)
    r = 'ok'
except ValueError:
    r = 'ValueError'
""",
        "empty_max_err": """
try:
    np.max(np.zeros(0))
    r = 'ok'
except ValueError:
    r = 'ValueError'
""",
        "int_pow_neg": """
try:
    r = np.asarray([2]) ** (-1)
    r = 'ok'
except ValueError:
    r = 'ValueError'
""",
        "uint_neg": """
try:
    x = u + -1
    r = 'ok'
except OverflowError:
    r = 'OverflowError'
""",
        "hash_err": """
try:
    hash(a)
    r = 'ok'
except TypeError:
    r = 'TypeError'
""",
        "truth_err": """
try:
    bool(a > 0)
    r = 'ok'
except (ValueError,):
    r = 'ValueError'
""",
    },
    "scalars and promotion": {
        "int_overflow": """
x = np.asarray([127], dtype=np.int8)
r = x + np.asarray([1], dtype=np.int8)
""",
        "div0": """
r = np.asarray([1.0, 0.0, -1.0]) / 0
""",
        "scalar_type": """
r = type(a[0, 0]).__name__
""",
        "format": """
r = f'{a[0, 0]:.3f}'
""",
        "nep50": """
r = (f * 2.0).dtype == f.dtype
""",
        "nep50_npscalar": """
import numpy
r = str((f * numpy.float64(2)).dtype)[-7:]
""",
        "eq_none": """
r = (a == None) is False
""",
        "contains": """
r = bool(i[0, 0] in i)
""",
    },
    "indexing and iteration": {
        "newaxis_idx": """
r = a[:, np.newaxis].shape
""",
        "bool_scalar_idx": """
r = a[True].shape
""",
        "data_dep_shape": """
r = a[a > 0].shape
""",
        "nonlist_idx": """
r = a[[0, 2]]
""",
        "tuple_list_idx": """
r = a[[0, 2], [1, 3]]
""",
        "iter_rows": """
r = [float(q.sum()) for q in a]
""",
        "empty_reduce": """
r = np.sum(np.zeros((0, 3)), axis=0)
""",
    },
}
