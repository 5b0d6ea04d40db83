#!/usr/bin/env python3
"""deny.py NUMBER[:ARGUMENT:BITS] ERRNO COMMAND...: runs COMMAND with one system call refused by seccomp, as a sandbox would.

NUMBER is that of x86-64 or arm64. With ARGUMENT and BITS only calls are refused that have all of BITS set in the lower half of that argument.
"""
import ctypes
import os
import sys


class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]


what, errno = [int(n, 0) for n in sys.argv[1].split(":")], int(sys.argv[2])
LOAD, AND, IS, RETURN = 0x20, 0x54, 0x15, 0x06
steps = [(LOAD, 0, 0, 0), (IS, 0, 1, what[0])]  # the number
if len(what) == 3:
    steps[1] = (IS, 0, 4, what[0])
    steps += [(LOAD, 0, 0, 16 + 8 * what[1]), (AND, 0, 0, what[2]), (IS, 0, 1, what[2])]
steps += [(RETURN, 0, 0, 0x00050000 | errno), (RETURN, 0, 0, 0x7FFF0000)]
libc = ctypes.CDLL(None, use_errno=True)
program = Program(len(steps), (Filter * len(steps))(*[Filter(*s) for s in steps]))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program)):
    sys.exit("seccomp is not to be had")
os.execvp(sys.argv[3], sys.argv[3:])
