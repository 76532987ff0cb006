"""Sleeping and waking of the pool's threads, as LLVM IR.

A thread sleeps on a condition variable of its own, after a short spin. The one who wakes it first
changes what it waits for, then looks whether it sleeps; the sleeper first says that it sleeps, then
looks once more. So one of them sees the other, and no wake-up is lost.
"""

from __future__ import annotations

import platform

from .job_text import SLICE

# How often a thread looks again before it sleeps.
SPINS = 200

# An instruction for loops that wait, with its argument; none on other processors.
_PAUSES = {
    "x86_64": ("llvm.x86.sse2.pause", ""),
    "aarch64": ("llvm.aarch64.isb", "i32 15"),
    "arm64": ("llvm.aarch64.isb", "i32 15"),
}


def pause_text() -> str:
    """The function that a loop calls which waits."""
    lines = ["define internal void @pause() {", "  ret void", "}"]
    if platform.machine() in _PAUSES:
        name, argument = _PAUSES[platform.machine()]
        lines.insert(0, f"declare void @{name}({argument.split(' ')[0]})")
        lines.insert(2, f"  call void @{name}({argument})")
    return "\n".join(lines)


SLEEP = f"""
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_timedwait(ptr, ptr, ptr)
declare i32 @pthread_cond_signal(ptr)

define internal ptr @worker(ptr %pool, i64 %index) {{
  %workers = place Pool.workers %pool
  %worker = getelementptr %Worker, ptr %workers, i64 %index
  ret ptr %worker
}}

define internal void @signal(ptr %worker) {{
  %sleeps = place Worker.sleeps %worker
  %sleeping = load atomic i64, ptr %sleeps seq_cst, align 8
  %awake = icmp eq i64 %sleeping, 0
  br i1 %awake, label %done, label %wake
wake:
  %mutex = place Worker.mutex %worker
  %condition = place Worker.condition %worker
  call i32 @pthread_mutex_lock(ptr %mutex)
  call i32 @pthread_mutex_unlock(ptr %mutex)
  call i32 @pthread_cond_signal(ptr %condition)
  br label %done
done:
  ret void
}}

; Returns when the worker's ticket is another than `seen`: the new one.
define internal i64 @sleep(ptr %worker, i64 %seen) {{
entry:
  %ticket = place Worker.ticket %worker
  %sleeps = place Worker.sleeps %worker
  %mutex = place Worker.mutex %worker
  %condition = place Worker.condition %worker
  br label %spin
spin:
  %turn = phi i64 [0, %entry], [%following, %pause]
  %now = load atomic i64, ptr %ticket acquire, align 8
  %called = icmp ne i64 %now, %seen
  br i1 %called, label %done, label %look
look:
  %patient = icmp slt i64 %turn, {SPINS}
  br i1 %patient, label %pause, label %lie.down
pause:
  call void @pause()
  %following = add i64 %turn, 1
  br label %spin
lie.down:
  call i32 @pthread_mutex_lock(ptr %mutex)
  store atomic i64 1, ptr %sleeps seq_cst, align 8
  br label %whether
whether:
  %still = load atomic i64, ptr %ticket seq_cst, align 8
  %up = icmp ne i64 %still, %seen
  br i1 %up, label %rise, label %wait
wait:
  call i32 @pthread_cond_wait(ptr %condition, ptr %mutex)
  br label %whether
rise:
  store atomic i64 0, ptr %sleeps seq_cst, align 8
  call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %done
done:
  %new = phi i64 [%now, %spin], [%still, %rise]
  ret i64 %new
}}

; Returns when nobody is in the pool: true; false if that takes longer than a slice, and the caller
; is not patient.
define internal i1 @await_empty(ptr %pool, i1 %patient) {{
entry:
  %time = alloca [2 x i64]
  %state = place Pool.state %pool
  %caller = call ptr @worker(ptr %pool, i64 0)
  %sleeps = place Worker.sleeps %caller
  %mutex = place Worker.mutex %caller
  %condition = place Worker.condition %caller
  br label %spin
spin:
  %turn = phi i64 [0, %entry], [%following, %pause]
  %now = load atomic i64, ptr %state seq_cst, align 8
  %empty = icmp eq i64 %now, 0
  br i1 %empty, label %yes, label %look
look:
  %more = icmp slt i64 %turn, {SPINS}
  br i1 %more, label %pause, label %lie.down
pause:
  call void @pause()
  %following = add i64 %turn, 1
  br label %spin
lie.down:
  call i32 @clock_gettime(i32 0, ptr %time)
  %rest.place = getelementptr i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %rest = load i64, ptr %rest.place
  %later = add i64 %rest, {SLICE}
  %carry = udiv i64 %later, 1000000000
  %kept = urem i64 %later, 1000000000
  %then = add i64 %seconds, %carry
  store i64 %then, ptr %time
  store i64 %kept, ptr %rest.place
  call i32 @pthread_mutex_lock(ptr %mutex)
  store atomic i64 1, ptr %sleeps seq_cst, align 8
  br label %whether
whether:
  %still = load atomic i64, ptr %state seq_cst, align 8
  %over = icmp eq i64 %still, 0
  br i1 %over, label %rise, label %wait
wait:
  br i1 %patient, label %long, label %short
long:
  call i32 @pthread_cond_wait(ptr %condition, ptr %mutex)
  br label %whether
short:
  %code = call i32 @pthread_cond_timedwait(ptr %condition, ptr %mutex, ptr %time)
  %woken = icmp eq i32 %code, 0
  br i1 %woken, label %whether, label %rise
rise:
  store atomic i64 0, ptr %sleeps seq_cst, align 8
  call i32 @pthread_mutex_unlock(ptr %mutex)
  ret i1 %over
yes:
  ret i1 true
}}
"""
