"""What a launch does on one thread, as LLVM IR: chunks are taken and run, then combined.

Two abbreviations are spelled out by `expand`: `%p = place Job.next %job` is the address of a field
of job.py's records, `%n = field i64 Job.next %job` its value.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Sequence
from typing import Any

from .job import Job, Patch, Patches, Step

# A call returns to Python after so long, so that Python can run its signal handlers.
SLICE = 50_000_000  # ns

# What a call says.
DONE, AGAIN, FAULTED, FORKED = range(4)

FUNCTIONS = ("run", "cancel")

_MONOTONIC = 6 if sys.platform == "darwin" else 1
_TYPES: dict[Any, str] = {ctypes.c_int32: "i32", ctypes.c_int64: "i64", ctypes.c_void_p: "ptr"}
Record = type[ctypes.Structure]
RECORDS: tuple[Record, ...] = (Patch, Patches, Step, Job)


def expand(text: str, records: Sequence[Record]) -> str:
    """LLVM IR from a text with abbreviations, which may name the records' fields."""
    numbers = {
        f"{record.__name__}.{field[0]}": k
        for record in records
        for k, field in enumerate(record._fields_)
    }

    def place(found: re.Match[str]) -> str:
        name, record, field, base = found.groups()
        number = numbers[f"{record}.{field}"]
        return f"{name} = getelementptr inbounds %{record}, ptr {base}, i64 0, i32 {number}"

    text = re.sub(
        r"(%[\w.]+) = field (\w+) (\w+\.\w+) (%\w+)",
        r"\1.place = place \3 \4\n  \1 = load \2, ptr \1.place",
        text,
    )
    return re.sub(r"(%[\w.]+) = place (\w+)\.(\w+) (%\w+)", place, text)


def record_type(record: Record) -> str:
    """A record's type in LLVM IR."""
    fields = ", ".join(_field_type(field[1]) for field in record._fields_)
    return f"%{record.__name__} = type {{ {fields} }}"


def _field_type(kind: Any) -> str:
    if issubclass(kind, ctypes.Array):
        return f"[{kind._length_} x {_field_type(kind._type_)}]"
    if issubclass(kind, ctypes.Structure):
        return f"%{kind.__name__}"
    return _TYPES[kind]


def job_text() -> str:
    """The module of `run` and `cancel` without threads: what pool_text.py has, with any pool."""
    types = [record_type(record) for record in RECORDS]
    return "\n".join([*types, expand(_TEXT, RECORDS), expand(_ALONE, RECORDS)])


def common_text() -> str:
    """What every way to run a job needs."""
    return "\n".join([*map(record_type, RECORDS), expand(_TEXT, RECORDS)])


_TEXT = f"""
declare i32 @clock_gettime(i32, ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Nanoseconds of a clock that nobody sets.
define internal i64 @now() {{
  %time = alloca [2 x i64]
  call i32 @clock_gettime(i32 {_MONOTONIC}, ptr %time)
  %seconds = load i64, ptr %time
  %rest.place = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.place
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}}

; Whether the deadline is over; 0 is none.
define internal i1 @late(i64 %until) {{
  %never = icmp eq i64 %until, 0
  br i1 %never, label %no, label %look
look:
  %now = call i64 @now()
  %over = icmp sgt i64 %now, %until
  ret i1 %over
no:
  ret i1 false
}}

; A worker's own row of values.
define internal void @own_row(ptr %job, i64 %worker, ptr %row) {{
  %values = field ptr Job.values %job
  %count = field i64 Job.count %job
  %bytes = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %row, ptr %values, i64 %bytes, i1 false)
  %scratch = place Job.scratch %job
  call void @patch(ptr %scratch, ptr %values, ptr %row, i64 %worker)
  ret void
}}

; row[place] = min(values[place] + number * stride, limit), for every patch.
define internal void @patch(ptr %patches, ptr %values, ptr %row, i64 %number) {{
entry:
  %count = field i64 Patches.count %patches
  %first = field ptr Patches.first %patches
  br label %head
head:
  %k = phi i64 [0, %entry], [%following, %body]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %patch = getelementptr %Patch, ptr %first, i64 %k
  %place = field i64 Patch.place %patch
  %stride = field i64 Patch.stride %patch
  %limit = field i64 Patch.limit %patch
  %from = getelementptr i64, ptr %values, i64 %place
  %base = load i64, ptr %from
  %offset = mul i64 %number, %stride
  %sum = add i64 %base, %offset
  %value = call i64 @llvm.smin.i64(i64 %sum, i64 %limit)
  %to = getelementptr i64, ptr %row, i64 %place
  store i64 %value, ptr %to
  %following = add i64 %k, 1
  br label %head
done:
  ret void
}}

; Gathers a function's table from the row, and calls it.
define internal void @call(ptr %step, ptr %row, ptr %table) {{
entry:
  %address = field ptr Step.address %step
  %count = field i64 Step.count %step
  %places = field ptr Step.places %step
  %nothing = icmp eq ptr %address, null
  br i1 %nothing, label %done, label %head
head:
  %k = phi i64 [0, %entry], [%following, %body]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %run
body:
  %at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %at
  %from = getelementptr i64, ptr %row, i64 %place
  %value = load i64, ptr %from
  %to = getelementptr i64, ptr %table, i64 %k
  store i64 %value, ptr %to
  %following = add i64 %k, 1
  br label %head
run:
  call void %address(ptr %table)
  br label %done
done:
  ret void
}}

; The record in which the row's functions say that they faulted.
define internal ptr @record(ptr %job, ptr %row) {{
  %place = field i64 Job.fault %job
  %at = getelementptr i64, ptr %row, i64 %place
  %record = load ptr, ptr %at
  ret ptr %record
}}

; Whether there is a fault in the record; the job is told.
define internal i1 @note_fault(ptr %job, ptr %record) {{
  %site = load i64, ptr %record
  %found = icmp ne i64 %site, 0
  br i1 %found, label %yes, label %no
yes:
  %faulted = place Job.faulted %job
  store atomic i64 1, ptr %faulted monotonic, align 8
  ret i1 true
no:
  ret i1 false
}}

; Takes chunks until there are none left or the job is stopped: false; true when it is late.
define internal i1 @take(ptr %job, i64 %worker, i64 %until) {{
entry:
  %count = field i64 Job.count %job
  %row = alloca i64, i64 %count
  %slots = field i64 Job.table %job
  %table = alloca i64, i64 %slots
  call void @own_row(ptr %job, i64 %worker, ptr %row)
  %values = field ptr Job.values %job
  %chunks = field i64 Job.chunks %job
  %next = place Job.next %job
  %stop = place Job.stop %job
  %parts = place Job.parts %job
  %init = place Job.init %job
  %run = place Job.chunk %job
  br label %head
head:
  %stopped = load atomic i64, ptr %stop monotonic, align 8
  %goes.on = icmp eq i64 %stopped, 0
  br i1 %goes.on, label %draw, label %done
draw:
  %chunk = atomicrmw add ptr %next, i64 1 monotonic
  %more = icmp slt i64 %chunk, %chunks
  br i1 %more, label %body, label %done
body:
  call void @patch(ptr %parts, ptr %values, ptr %row, i64 %chunk)
  %record = call ptr @record(ptr %job, ptr %row)
  store i64 0, ptr %record
  call void @call(ptr %init, ptr %row, ptr %table)
  call void @call(ptr %run, ptr %row, ptr %table)
  call i1 @note_fault(ptr %job, ptr %record)
  %late = call i1 @late(i64 %until)
  br i1 %late, label %pause, label %head
pause:
  ret i1 true
done:
  ret i1 false
}}

; Combines and finishes on the caller's thread, unless there was a fault; what there is to say.
define internal i64 @complete(ptr %job, i64 %until) {{
entry:
  %count = field i64 Job.count %job
  %row = alloca i64, i64 %count
  %slots = field i64 Job.table %job
  %table = alloca i64, i64 %slots
  call void @own_row(ptr %job, i64 0, ptr %row)
  %values = field ptr Job.values %job
  %chunks = field i64 Job.chunks %job
  %parts = place Job.parts %job
  %others = place Job.others %job
  %combine = place Job.combine %job
  %finish = place Job.finish %job
  %combined = place Job.combined %job
  call void @patch(ptr %parts, ptr %values, ptr %row, i64 0)
  %record = call ptr @record(ptr %job, ptr %row)
  %faulted = field i64 Job.faulted %job
  %good = icmp eq i64 %faulted, 0
  %function = field ptr Step.address %combine
  %combines = icmp ne ptr %function, null
  %first = load i64, ptr %combined
  br i1 %good, label %whether, label %fault
whether:
  br i1 %combines, label %head, label %end
head:
  %chunk = phi i64 [%first, %whether], [%following, %kept]
  %more = icmp slt i64 %chunk, %chunks
  br i1 %more, label %body, label %end
body:
  call void @patch(ptr %others, ptr %values, ptr %row, i64 %chunk)
  call void @call(ptr %combine, ptr %row, ptr %table)
  %bad = call i1 @note_fault(ptr %job, ptr %record)
  br i1 %bad, label %fault, label %kept
kept:
  %following = add i64 %chunk, 1
  store i64 %following, ptr %combined
  %late = call i1 @late(i64 %until)
  br i1 %late, label %pause, label %head
end:
  call void @call(ptr %finish, ptr %row, ptr %table)
  %last = call i1 @note_fault(ptr %job, ptr %record)
  br i1 %last, label %fault, label %done
pause:
  ret i64 {AGAIN}
fault:
  ret i64 {FAULTED}
done:
  ret i64 {DONE}
}}

; A job from its beginning, and its end.

define internal void @begin(ptr %job, i64 %now) {{
  %began = place Job.began %job
  store i64 %now, ptr %began
  %next = place Job.next %job
  store i64 0, ptr %next
  %combined = place Job.combined %job
  store i64 1, ptr %combined
  %shared = place Job.shared %job
  store i64 0, ptr %shared
  %stop = place Job.stop %job
  store i64 0, ptr %stop
  %faulted = place Job.faulted %job
  store i64 0, ptr %faulted
  %phase = place Job.phase %job
  store i64 1, ptr %phase
  ret void
}}

define internal void @end(ptr %job) {{
  %phase = place Job.phase %job
  store i64 0, ptr %phase
  %began = field i64 Job.began %job
  %now = call i64 @now()
  %time = sub i64 %now, %began
  %spent = place Job.spent %job
  store i64 %time, ptr %spent
  ret void
}}
"""

_ALONE = f"""
; Runs the job, or goes on with it, on the caller's thread.
define i64 @parloom_run(ptr %pool, ptr %job) {{
entry:
  %now = call i64 @now()
  %until = add i64 %now, {SLICE}
  %was = field i64 Job.phase %job
  %new = icmp eq i64 %was, 0
  br i1 %new, label %start, label %go
start:
  call void @begin(ptr %job, i64 %now)
  br label %go
go:
  %late = call i1 @take(ptr %job, i64 0, i64 %until)
  br i1 %late, label %pause, label %complete
complete:
  %said = call i64 @complete(ptr %job, i64 %until)
  %again = icmp eq i64 %said, {AGAIN}
  br i1 %again, label %pause, label %done
pause:
  ret i64 {AGAIN}
done:
  call void @end(ptr %job)
  ret i64 %said
}}

; Ends a job that `run` has not ended.
define void @parloom_cancel(ptr %pool, ptr %job) {{
  %phase = place Job.phase %job
  store i64 0, ptr %phase
  ret void
}}
"""
