"""Requests that wait for the disk: in a separate process, so that its threads do not delay the measuring process."""
import itertools
import os
import sys
import threading
import time


def name(directory, number):
    return os.path.join(directory, f"load{number:03}")


def overwrite(directory, number):
    """Replaces a value; the close waits for the commit."""
    with open(name(directory, number), "wb", buffering=0) as file:
        file.write(b"x" * 32)


def truncate(directory, number):
    """What `: > FILE` does: the last close commits."""
    os.close(os.open(name(directory, number), os.O_WRONLY | os.O_CREAT | os.O_TRUNC))


def write_synchronously(directory, number):
    """One write of 8 KiB that is durable when it returns."""
    file = os.open(name(directory, number), os.O_WRONLY | os.O_CREAT | os.O_SYNC)
    try:
        os.pwrite(file, b"x" * 8192, 0)
    finally:
        os.close(file)


def look(directory, number):
    """Reads attributes and value of an item."""
    os.stat(name(directory, number))
    with open(name(directory, number), "rb", buffering=0) as file:
        file.read()


def create_and_remove(directory, number):
    overwrite(directory, number)
    os.unlink(name(directory, number))


def overwrite_at_intervals(directory, number):
    """100 commits a second, if the disk allows it."""
    begin = time.monotonic()
    overwrite(directory, number)
    time.sleep(max(0, begin + 0.01 - time.monotonic()))


# Each load: the threads, as (function, number of the item).
LOADS = {
    "idle": [],
    "one item is written": [(overwrite, 0)],
    "one item is written and read": [(overwrite, 0), (look, 0)],
    "one item is truncated": [(truncate, 0)],
    "60 items are written": [(overwrite, number) for number in range(60)],
    "200 closes wait": [(overwrite, number) for number in range(200)],
    "4 O_SYNC writes of 8 KiB": [(write_synchronously, number) for number in range(4)],
    "8 items are created and removed": [(create_and_remove, number) for number in range(8)],
}


# Without a slow disk.
BUSY = {"100 commits a second": [(overwrite_at_intervals, 0)]}


def repeat(function, directory, number):
    for _ in itertools.count():
        try:
            function(directory, number)
        except OSError as error:
            # The keychain is locked or unmounted at the end.
            sys.exit(f"{function.__name__}: {error.strerror}")


def main(load, directory):
    for function, number in {**LOADS, **BUSY}[load]:
        threading.Thread(target=repeat, args=(function, directory, number), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
