# SPDX-License-Identifier: MIT
"""The parts of the benchmark runner."""
