#!/usr/bin/env python3
"""paced_disk.py DIR MIB SWITCH: a disk whose speed is known, for tests that compare figures rather than machines.

Mounts a file system at DIR (FUSE, spoken directly) that holds one file, `disk`, of so many MiB in memory. While the file SWITCH exists, each
read of it takes a time from a fixed table: 89 of 100 take 1.6 ms, 8 take 4 ms and 3 take 8.43 ms, in an order that is shuffled once; one at a
time, so it does 500 reads a second (SERVICE_MS). Else, and for writes, it answers at once. Prints "ready" when it is mounted, and ends when it
is unmounted.

The pace is kept: a read's time counts from when the read before it was due, so what the machine took to wake this process or its client is
taken off the next read, and 500 a second are 500 on a busy machine, too. More than DEBT_S late and the pace begins anew: a stopped machine is
not followed by a burst. A disk that had nothing to do for as long begins anew as well.

A cgroup's throttle would be the obvious way. It lets a whole tenth of a second's worth through at once and then nothing for a tenth of a second, so at
depth 1 half of the latencies are those of the bare machine, and neither median nor 95th percentile says anything of the limit.
"""
import ctypes
import os
import random
import struct
import sys
import time

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, INTERRUPT, DESTROY, BATCH_FORGET = (
    1, 2, 3, 4, 14, 15, 16, 17, 18, 20, 25, 26, 36, 38, 42)
ENOENT, ENOSYS = 2, 38
ROOT, DISK = 1, 2
FOPEN_DIRECT_IO = 1
MAX_WRITE = 1 << 17
SERVICE_MS = [1.6] * 89 + [4.0] * 8 + [8.43] * 3
DEBT_S = 0.0012


def attributes(node, size):
    mode = 0o040700 if node == ROOT else 0o100600
    return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Server:
    def __init__(self, fd, mib, switch):
        self.fd, self.switch = fd, switch
        self.disk = bytearray(mib << 20)
        self.order = SERVICE_MS[:]
        random.Random(1).shuffle(self.order)
        self.reads = 0
        self.due = 0.0
        self.answers = {
            INIT: self.init, LOOKUP: self.lookup, GETATTR: self.getattr, SETATTR: self.getattr, OPEN: self.open, READ: self.read,
            WRITE: self.write, STATFS: self.statfs, RELEASE: self.nothing, FSYNC: self.nothing, FLUSH: self.nothing,
        }

    def size_of(self, node):
        return len(self.disk) if node == DISK else 0

    def init(self, node, body):
        _, minor, readahead = struct.unpack_from("<3I", body)
        return struct.pack("<4I2H2I2H8I", 7, min(minor, 31), readahead, 0, 12, 9, MAX_WRITE, 1, 0, 0, *[0] * 8)

    def lookup(self, node, body):
        if body.rstrip(b"\0") != b"disk":
            return -ENOENT
        return struct.pack("<4Q2I", DISK, 1, 3600, 3600, 0, 0) + attributes(DISK, len(self.disk))

    def getattr(self, node, body):
        return struct.pack("<Q2I", 3600, 0, 0) + attributes(node, self.size_of(node))

    def open(self, node, body):
        return struct.pack("<Q2I", 0, FOPEN_DIRECT_IO, 0)

    def read(self, node, body):
        begin = time.monotonic()
        _, offset, size = struct.unpack_from("<2QI", body)
        if os.path.exists(self.switch):
            if begin - self.due > DEBT_S:
                self.due = begin
            self.due += self.order[self.reads % len(self.order)] / 1000
            self.reads += 1
            time.sleep(max(0, self.due - time.monotonic()))
        return bytes(self.disk[offset:offset + size])

    def write(self, node, body):
        _, offset, size = struct.unpack_from("<2QI", body)
        self.disk[offset:offset + size] = body[40:40 + size]
        return struct.pack("<2I", size, 0)

    def statfs(self, node, body):
        return struct.pack("<5Q4I6I", len(self.disk) >> 12, 0, 0, 2, 0, 4096, 255, 4096, 0, *[0] * 6)

    def nothing(self, node, body):
        return b""

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, MAX_WRITE + 4096)
            except InterruptedError:
                continue
            except OSError:  # ENODEV: unmounted
                return
            _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
            if opcode == DESTROY:
                return
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            answer = self.answers[opcode](node, request[40:]) if opcode in self.answers else -ENOSYS
            error, data = (answer, b"") if isinstance(answer, int) else (0, answer)
            try:
                os.write(self.fd, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
            except OSError:  # ENOENT: nobody waits for it any more
                pass


def main():
    where, mib, switch = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(29, 1, 0, 0, 0)  # timer slack: a sleep ends when it should
    try:
        fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as e:
        sys.exit(f"/dev/fuse: {e}")
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"stb-paced", where.encode(), b"fuse", 6, options.encode()):  # nosuid, nodev
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    Server(fd, mib, switch).serve()


if __name__ == "__main__":
    main()
