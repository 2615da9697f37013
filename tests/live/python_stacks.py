# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program that knows its own stacks. It runs one task after the other, each for the CPU seconds
# of the first argument, and then prints for each "task<TAB>CPU seconds in its leaf". The leaf of each
# task is a function of its own, so that a stack belongs to one task.
import asyncio, json, re, sys, threading, time

clock = time.thread_time_ns
SECONDS = float(sys.argv[1])
spent = {}


def spin(seconds):  # the only loop; its caller is a task's leaf
    end = clock() + int(seconds * 1e9)
    while clock() < end:
        for _ in range(500):
            pass


def timed(name, function):
    began = clock()
    function()
    spent[name] = spent.get(name, 0) + clock() - began


def leaf_recurse(): spin(SECONDS)


def recurse(n):
    return recurse(n - 1) if n > 1 else timed("recurse", leaf_recurse)


def leaf_sorted(x):
    timed("sorted", lambda: spin(SECONDS / 8))
    return x


def task_sorted(): sorted(range(8), key=leaf_sorted)


def leaf_map(x): timed("map", lambda: spin(SECONDS / 8))


def task_map(): list(map(leaf_map, range(8)))


def leaf_sub(match):
    timed("sub", lambda: spin(SECONDS / 8))
    return ""


def task_sub(): re.sub("a", leaf_sub, "aaaaaaaa")


def leaf_generator():
    for i in range(8):
        timed("generator", lambda: spin(SECONDS / 8))
        yield i


def middle_generator(): yield from leaf_generator()


def task_generator():
    for _ in middle_generator():
        pass


def leaf_hook(value):
    timed("hook", lambda: spin(SECONDS / 8))
    return value


def task_hook(): json.loads("[" + "{}," * 7 + "{}]", object_hook=leaf_hook)


def leaf_except(): timed("except", lambda: spin(SECONDS))


def task_except():
    try:
        raise ValueError
    except ValueError:
        leaf_except()
    finally:
        pass


class Deleted:
    def __del__(self): timed("del", lambda: spin(SECONDS))


def task_del(): made = Deleted()


async def leaf_async(): timed("async", lambda: spin(SECONDS))


async def middle_async(): await leaf_async()


async def task_async(): await asyncio.gather(middle_async())


def leaf_thread(): timed("thread", lambda: spin(SECONDS))


def task_thread():
    t = threading.Thread(target=leaf_thread)
    t.start()
    t.join()


def leaf_made(): pass


# Functions that are made, called once and freed: their memory is used again and again.
def task_made():
    end = clock() + int(SECONDS * 1e9)
    n = 0
    while clock() < end:
        n += 1
        names = {"timed": timed, "spin": spin}
        exec("def leaf_made_%d(): timed('made', lambda: spin(0.02))\nleaf_made_%d()" % (n % 5, n % 5),
             names)


def leaf_sleep(): time.sleep(SECONDS)


def task_sleep(): leaf_sleep()


def main():
    recurse(50)
    task_sorted()
    task_map()
    task_sub()
    task_generator()
    task_hook()
    task_except()
    task_del()
    asyncio.run(task_async())
    task_thread()
    task_made()
    task_sleep()
    for name, ns in spent.items():
        print("%s\t%.6f" % (name, ns / 1e9))


main()
