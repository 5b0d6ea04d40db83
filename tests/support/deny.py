#!/usr/bin/env python3
"""deny.py NUMBER ERRNO COMMAND...: runs COMMAND with one system call (x86-64 or arm64 number) refused by seccomp, as a sandbox would."""
import ctypes
import os
import sys


class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]


number, errno = int(sys.argv[1]), int(sys.argv[2])
rules = (Filter * 4)(
    Filter(0x20, 0, 0, 0),                    # load the number
    Filter(0x15, 0, 1, number),               # is it the one?
    Filter(0x06, 0, 0, 0x00050000 | errno),   # SECCOMP_RET_ERRNO
    Filter(0x06, 0, 0, 0x7FFF0000),           # SECCOMP_RET_ALLOW
)
libc = ctypes.CDLL(None, use_errno=True)
program = Program(len(rules), rules)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program)):
    sys.exit("seccomp is not to be had")
os.execvp(sys.argv[3], sys.argv[3:])
