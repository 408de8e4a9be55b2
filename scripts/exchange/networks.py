"""An exported safetensors file as a network in numpy: the nodes of a checkpoint, with weights in the layout of PyTorch."""

import json

from reader import Checkpoint
from safetensors import safe_open


class Network(Checkpoint):
    """The tensors of a file, and the network that its `adept` entry describes."""

    def read(self, path):
        with safe_open(path, "np") as file:
            return json.loads(file.metadata()["adept"]), {name: file.get_tensor(name) for name in file.keys()}

    def tensor(self, name):
        """Weights have a row for each output, those of a checkpoint one for each input."""
        data = super().tensor(name)
        return data.T if name.endswith(".weight") else data
