"""Data sets, samplers and the loader that makes batches, with PyTorch's names.

`datasets.py` holds samples, `samplers.py` says in which order they are read, `loader.py` reads
them, in this process or with `workers.py` in others; `collate.py` joins samples into a batch.
Order and random numbers depend on the seed and the epoch alone, never on the number of workers.
"""

from numen.data.collate import default_collate
from numen.data.datasets import (
    ArrayDataset,
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from numen.data.fetching import WorkerError, WorkerInfo, WorkerTimeoutError, get_worker_info
from numen.data.loader import DataLoader
from numen.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = ["Dataset", "IterableDataset", "ArrayDataset", "TensorDataset", "Subset"]
__all__ += ["ConcatDataset", "ChainDataset", "random_split"]
__all__ += ["Sampler", "SequentialSampler", "RandomSampler", "SubsetRandomSampler"]
__all__ += ["WeightedRandomSampler", "BatchSampler", "DataLoader", "default_collate"]
__all__ += ["WorkerError", "WorkerTimeoutError", "WorkerInfo", "get_worker_info"]
