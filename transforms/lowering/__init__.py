"""Mapped loops become kernels: Kernel IR, a file for each part of a loop."""
