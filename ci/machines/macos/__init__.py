"""Runs our own machine code for macOS, arm64 and x64, where there is no Mac, on an emulated processor.

unicorn emulates the processor, lief reads the Mach-O files, and this package does what dyld and libSystem do for the
few functions that such code calls. It is not macOS: code signing, the hardened runtime, the shared cache and Apple's
frameworks are out of reach, and so is every real runtime.
"""
