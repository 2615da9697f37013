# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program whose threads wait, each in another way, until SECONDS (the first argument) have passed. Each
# wait is short and is repeated, so that its thread is seen again and again in the same line. Then
# CPython's own faulthandler writes what each thread does into the file of the second argument. For
# each thread it prints "KIND<TAB>system's thread id<TAB>Python's thread id".
import asyncio, faulthandler, functools, json, queue, select, socket, sys, threading, time

SECONDS = float(sys.argv[1])
SHORT = 0.02
over = False
kinds = {}


def kind(function):
    kinds[function.__name__] = function
    return function


@kind
def lock():
    held = threading.Lock()
    held.acquire()
    while not over:
        held.acquire(timeout=SHORT)


@kind
def condition():
    c = threading.Condition()
    with c:
        while not over:
            c.wait(SHORT)


@kind
def a_queue():
    q = queue.Queue()
    while not over:
        try:
            q.get(timeout=SHORT)
        except queue.Empty:
            pass


@kind
def sleep():
    def nested():
        while not over:
            time.sleep(SHORT)
    nested()


@kind
def receive():
    a, b = socket.socketpair()
    a.settimeout(SHORT)
    while not over:
        try:
            a.recv(1)
        except TimeoutError:
            pass


@kind
def polls():
    p = select.poll()
    while not over: p.poll(SHORT * 1000)


@kind
def recursion(depth=30):
    if depth > 1:
        return recursion(depth - 1)
    while not over:
        time.sleep(SHORT)


@kind
def decorated():
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kw):
            return function(*args, **kw)
        return wrapper

    @decorator
    @decorator
    def inner(n):
        while not over:
            time.sleep(SHORT)
    inner(3)


@kind
def generator():
    def items():
        yield 1
        while not over:
            time.sleep(SHORT)

    def middle(): yield from items()

    for _ in middle():
        pass


class Made:
    def __init__(self):
        while not over:
            time.sleep(SHORT)


@kind
def constructor():
    Made()


@kind
def comparison():
    class Key:
        def __lt__(self, other):
            while not over:
                time.sleep(SHORT)
            return False

    sorted([Key(), Key()])


@kind
def hook():
    def found(value):
        while not over:
            time.sleep(SHORT)

    json.loads('[{"a": [{}]}]', object_hook=found)


@kind
def evaluated():
    exec("while not over:\n    time.sleep(SHORT)", globals())


@kind
def coroutine():
    async def inner():
        while not over:
            time.sleep(SHORT)

    async def outer(): await inner()

    asyncio.run(outer())


@kind
def finalizer():
    class Deleted:
        def __del__(self):
            while not over:
                time.sleep(SHORT)

    made = Deleted()
    del made


threads = [threading.Thread(target=f, name=k) for k, f in kinds.items()]
for t in threads:
    t.start()
time.sleep(SECONDS)
with open(sys.argv[2], "w") as f:
    faulthandler.dump_traceback(f, all_threads=True)
for t in threads:
    print("%s\t%d\t%d" % (t.name, t.native_id, t.ident), flush=True)
over = True
