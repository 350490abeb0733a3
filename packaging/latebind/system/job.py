"""Puts processes into Windows' jobs, which end with all that they started when their holder ends."""

from __future__ import annotations

import ctypes
import sys

if sys.platform == "win32":
    from ctypes import wintypes

    _EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
    _KILL_ON_CLOSE = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE

    class _Limits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION (winnt.h)."""

        _fields_ = (
            ("times", ctypes.c_int64 * 2),
            ("flags", wintypes.DWORD),
            ("working_set", ctypes.c_size_t * 2),
            ("active", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("classes", wintypes.DWORD * 2),
            ("io", ctypes.c_uint64 * 6),
            ("memory", ctypes.c_size_t * 4),
        )

    _kernel = ctypes.WinDLL("kernel32")
    _kernel.CreateJobObjectW.argtypes = (wintypes.LPVOID, wintypes.LPCWSTR)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, wintypes.LPVOID, wintypes.DWORD)
    _kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    _kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
    _kernel.CloseHandle.argtypes = (wintypes.HANDLE,)

    class Job:
        """A job for a process that has just been started; it holds what that starts from now on."""

        def __init__(self, process: int) -> None:
            """`process` is its handle."""
            self._handle = _kernel.CreateJobObjectW(None, None)
            self._limit(_KILL_ON_CLOSE)
            _kernel.AssignProcessToJobObject(self._handle, process)

        def end(self) -> None:
            """End all processes in the job."""
            _kernel.TerminateJobObject(self._handle, 1)

        def close(self) -> None:
            """Release the job; its processes keep running."""
            self._limit(0)
            _kernel.CloseHandle(self._handle)

        def _limit(self, flags: int) -> None:
            limits = _Limits(flags=flags)
            _kernel.SetInformationJobObject(self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
