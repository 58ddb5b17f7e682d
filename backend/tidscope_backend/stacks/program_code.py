"""Frames of a program's own code, as opposed to a runtime's or a system library's. Pure.

One table, because lists of locks, findings and thread tables must name the same place.
"""

import re
from collections.abc import Iterable, Mapping

from tidscope_backend.stacks.code import Code


def _names(text: str) -> re.Pattern[str]:
    """Compile blank-separated names; * stands for any characters."""
    parts = (".*".join(map(re.escape, name.split("*"))) for name in text.split())
    return re.compile("|".join(parts), re.DOTALL)


SYSTEM_MODULES = _names("""
    ld-*.so* ld.so* [vdso] linux-vdso* vdso* libc.so* libc-*.so libc.musl-* libpthread* libm.so*
    libm-*.so libdl.so* libdl-*.so librt.so* librt-*.so libresolv* libstdc++.so* libc++.so*
    libc++abi.so* libgcc_s.so* libgomp.so* libomp.so* libatomic.so* libtbb.so* libuv.so*
    libjvm.so libjava.so libnio.so libnet.so libzip.so libjimage.so libjli.so
    libpython*.so* libruby*.so* libnode.so* libcoreclr.so libclrjit.so libSystem.Native.so
""")
"""Libraries of the system and of runtimes."""
FUNCTIONS: Mapping[str, re.Pattern[str]] = {
    "native": _names("""
        _start __libc_start_* start_thread clone clone3 __clone* syscall __GI_* __lll_* lll_*
        pthread_* __pthread_* ___pthread_* sem_wait* sem_timedwait* sem_clockwait* sem_post*
        __new_sem_* futex_wait* futex_wake* __futex_* mtx_lock* cnd_wait*
        std::mutex::* std::recursive_mutex::* std::timed_mutex::* std::shared_mutex::*
        std::condition_variable* std::unique_lock* std::shared_lock* std::lock_guard*
        std::scoped_lock* std::thread::* std::this_thread::* std::__* std::invoke* std::future*
        std::promise* std::function* std::sys* std::sync::* std::panic* std::rt::* std::io::*
        <std::* core::* <core::* alloc::* <alloc::* parking_lot* <parking_lot* lock_api::*
        <lock_api::* tokio::* <tokio::* rayon_core::* <rayon_core::* mio::* crossbeam_*
         absl::*Mutex::* absl::*CondVar::* absl::*synchronization_internal::* boost::mutex::*
        boost::condition_variable* boost::unique_lock* boost::*thread_proxy*
    """),
    "go": _names("""
        runtime.* runtime/* sync.* sync/* internal/* syscall.* golang.org/x/sys/*
        golang.org/x/sync/* goexit mcall systemstack gogo
    """),
    "python": _names("""
        <interpreter*trampoline> <shim> Thread._bootstrap* Thread.run Thread.join Condition.*
        Event.* Semaphore.* BoundedSemaphore.* Barrier.* RLock.* _RLock.* Queue.get Queue.put
        Queue.join SimpleQueue.* _wait_for_tstate_lock
    """),
    "java": _names("""
        java.* javax.* jdk.* sun.* com.sun.* java/* jdk/* sun/* Interpreter call_stub StubRoutines*
        *vtable* I2C/C2I* *Stub* *_Java *Blob* *blob*
    """),
    "v8": _names("""
        node:* internal/* *processTicksAndRejections JSEntry* JSConstructEntry* *Trampoline
        Builtins_* AsyncFunctionAwait* PromiseThen* RunMicrotasks
    """),
    "dotnet": _names("System.* Microsoft.* Interop.* Internal.*"),
    "ruby": _names("""
        *Mutex#* *Queue#* ConditionVariable#* Monitor#* Thread#join Thread#value Kernel#sleep
        Kernel#select Kernel#loop Kernel#require* <internal:*
    """),
    "beam": _names("gen:* gen_server:* gen_statem:* proc_lib:* supervisor:* prim_* erlang:*"),
}
"""Functions of runtimes, by kind of frame."""
FILES: Mapping[str, re.Pattern[str]] = {
    "native": _names("/rustc/* */library/std/* */library/core/* */library/alloc/* */sysdeps/*"),
    "go": _names("*/src/runtime/* */src/sync/* */src/internal/* */src/syscall/*"),
    "python": _names("""
        <frozen* */threading.py */queue.py */selectors.py */socket.py */ssl.py */subprocess.py
        */runpy.py */concurrent/futures/*.py */asyncio/*.py */multiprocessing/*.py
    """),
    "v8": _names("node:* internal/*"),
}
"""Source files of runtimes, by kind of frame."""
INTERPRETED = frozenset({"python", "java", "v8", "ruby", "php", "perl", "dotnet", "beam", "lua"})
"""Kinds of frames that a runtime in native code executes."""


def own_code(stack: Iterable[Code]) -> Code | None:
    """Return the innermost frame of a program's own code.

    A stack without such a frame has its innermost one outside the kernel.

    Args:
        stack: functions, the innermost first.

    Returns:
        The function, or None if all functions are the kernel's.
    """
    frames = [code for code in stack if code.kind != "kernel"]
    interpreted = any(code.kind in INTERPRETED for code in frames)
    for code in frames:
        if not (interpreted and code.kind == "native") and not is_runtime(code):
            return code
    return frames[0] if frames else None


def is_runtime(code: Code) -> bool:
    """Return True if a function is of the kernel, of a runtime or of a system library."""
    if code.kind in ("kernel", "unknown"):
        return True
    if code.kind == "native" and SYSTEM_MODULES.fullmatch(code.module):
        return True
    name = code.function
    if code.kind == "java":
        # Methods have a type before their name and parameters behind it.
        name = name.partition("(")[0].rpartition(" ")[2]
    return _matches(FUNCTIONS, code.kind, name) or _matches(FILES, code.kind, code.file)


def _matches(table: Mapping[str, re.Pattern[str]], kind: str, text: str) -> bool:
    pattern = table.get(kind)
    return pattern is not None and pattern.fullmatch(text) is not None
