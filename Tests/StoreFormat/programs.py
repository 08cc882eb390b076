"""The programs of this directory, which have no extension, as modules."""
import importlib.machinery
import importlib.util
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))


def load(name):
    """A program of this directory, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), f"{HERE}/{name}")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
