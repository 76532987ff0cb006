"""The pool of threads, as LLVM IR.

The calling thread is worker 0; the others are POSIX threads that sleep between launches. One
launch at a time has the pool (`busy`); another one that comes meanwhile runs alone on its thread.

A launch opens the pool and wakes workers 1 and 2; worker k wakes 2k + 1 and 2k + 2. A worker that
finds the pool open enters it and takes chunks. The caller does, too; then it closes the pool and
waits until those who entered have left. Who comes too late finds it closed and sleeps again: the
caller never waits for a thread that has not begun.
"""

from __future__ import annotations

from .job_text import AGAIN, FORKED, RECORDS, SLICE, Record, common_text, expand, record_type
from .pool import OPEN, Pool, Worker
from .sleep_text import SLEEP, pause_text

FUNCTIONS = ("start", "stop", "run", "cancel")


def pool_text() -> str:
    """The module of `start`, `stop`, `run` and `cancel`."""
    records: list[Record] = [*RECORDS, Worker, Pool]
    types = [record_type(Worker), record_type(Pool)]
    own = expand(SLEEP + _TEXT, records)
    return "\n".join([common_text(), *types, pause_text(), own])


_TEXT = f"""
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)

; Wakes a worker, if there is one of that number and the job wants it.
define internal void @wake(ptr %pool, ptr %job, i64 %index) {{
  %threads = field i64 Pool.threads %pool
  %exists = icmp sle i64 %index, %threads
  %workers = field i64 Job.workers %job
  %wanted = icmp slt i64 %index, %workers
  %both = and i1 %exists, %wanted
  br i1 %both, label %yes, label %done
yes:
  %worker = call ptr @worker(ptr %pool, i64 %index)
  %ticket = place Worker.ticket %worker
  atomicrmw add ptr %ticket, i64 1 seq_cst
  call void @signal(ptr %worker)
  br label %done
done:
  ret void
}}

; Entering and leaving.

; Enters the pool if it is open.
define internal i1 @enter(ptr %pool) {{
entry:
  %state = place Pool.state %pool
  %first = load atomic i64, ptr %state seq_cst, align 8
  br label %try
try:
  %seen = phi i64 [%first, %entry], [%found, %change]
  %bit = and i64 %seen, {OPEN}
  %open = icmp ne i64 %bit, 0
  br i1 %open, label %change, label %closed
change:
  %more = add i64 %seen, 1
  %pair = cmpxchg ptr %state, i64 %seen, i64 %more seq_cst seq_cst
  %found = extractvalue {{ i64, i1 }} %pair, 0
  %done = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %done, label %inside, label %try
inside:
  ret i1 true
closed:
  ret i1 false
}}

; Leaves it; the last one to leave a closed pool tells the caller.
define internal void @leave(ptr %pool) {{
  %state = place Pool.state %pool
  %was = atomicrmw sub ptr %state, i64 1 seq_cst
  %last = icmp eq i64 %was, 1
  br i1 %last, label %tell, label %done
tell:
  %caller = call ptr @worker(ptr %pool, i64 0)
  call void @signal(ptr %caller)
  br label %done
done:
  ret void
}}

; What a thread does.
define internal ptr @serve(ptr %worker) {{
entry:
  %pool = field ptr Worker.pool %worker
  %index = field i64 Worker.index %worker
  %left = shl i64 %index, 1
  %child = add i64 %left, 1
  %sibling = add i64 %left, 2
  %closing = place Pool.closing %pool
  br label %idle
idle:
  %seen = phi i64 [0, %entry], [%ticket, %try], [%ticket, %out]
  %ticket = call i64 @sleep(ptr %worker, i64 %seen)
  %ends = load atomic i64, ptr %closing seq_cst, align 8
  %end = icmp ne i64 %ends, 0
  br i1 %end, label %done, label %try
try:
  %open = call i1 @enter(ptr %pool)
  br i1 %open, label %inside, label %idle
inside:
  %job = field ptr Pool.job %pool
  %workers = field i64 Job.workers %job
  %wanted = icmp slt i64 %index, %workers
  br i1 %wanted, label %work, label %out
work:
  call void @wake(ptr %pool, ptr %job, i64 %child)
  call void @wake(ptr %pool, ptr %job, i64 %sibling)
  call i1 @take(ptr %job, i64 %index, i64 0)
  br label %out
out:
  call void @leave(ptr %pool)
  br label %idle
done:
  ret ptr null
}}

; Opening and closing.

; Opens the pool for a job of several workers, if nobody has it.
define internal void @share(ptr %pool, ptr %job) {{
  %workers = field i64 Job.workers %job
  %several = icmp sgt i64 %workers, 1
  br i1 %several, label %ask, label %done
ask:
  %busy = place Pool.busy %pool
  %pair = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %open, label %done
open:
  %shared = place Job.shared %job
  store i64 1, ptr %shared
  %current = place Pool.job %pool
  store ptr %job, ptr %current
  %state = place Pool.state %pool
  store atomic i64 {OPEN}, ptr %state seq_cst, align 8
  call void @wake(ptr %pool, ptr %job, i64 1)
  call void @wake(ptr %pool, ptr %job, i64 2)
  br label %done
done:
  ret void
}}

; Closes the pool, and waits as `await_empty` does.
define internal i1 @close(ptr %pool, i1 %patient) {{
  %state = place Pool.state %pool
  atomicrmw and ptr %state, i64 {OPEN - 1} seq_cst
  %empty = call i1 @await_empty(ptr %pool, i1 %patient)
  ret i1 %empty
}}

; Gives the pool back after a job that was shared.
define internal void @give_back(ptr %pool, ptr %job) {{
  %shared = place Job.shared %job
  store i64 0, ptr %shared
  %busy = place Pool.busy %pool
  store atomic i64 0, ptr %busy seq_cst, align 8
  ret void
}}

; What Python calls.

; Starts thread `index`; what pthread_create says. Thread 0 is the caller: it has only its record.
define i64 @parloom_start(ptr %pool, i64 %index) {{
  %worker = call ptr @worker(ptr %pool, i64 %index)
  %own.pool = place Worker.pool %worker
  store ptr %pool, ptr %own.pool
  %own.index = place Worker.index %worker
  store i64 %index, ptr %own.index
  %mutex = place Worker.mutex %worker
  call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %condition = place Worker.condition %worker
  call i32 @pthread_cond_init(ptr %condition, ptr null)
  %none = icmp eq i64 %index, 0
  br i1 %none, label %good, label %create
create:
  %handle = place Worker.handle %worker
  %code = call i32 @pthread_create(ptr %handle, ptr null, ptr @serve, ptr %worker)
  %created = icmp eq i32 %code, 0
  br i1 %created, label %count, label %bad
count:
  %threads = place Pool.threads %pool
  store atomic i64 %index, ptr %threads seq_cst, align 8
  br label %good
good:
  ret i64 0
bad:
  %error = sext i32 %code to i64
  ret i64 %error
}}

; Ends all threads, unless a launch has the pool.
define void @parloom_stop(ptr %pool) {{
entry:
  %busy = place Pool.busy %pool
  %pair = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %begin, label %done
begin:
  %closing = place Pool.closing %pool
  store atomic i64 1, ptr %closing seq_cst, align 8
  %threads = field i64 Pool.threads %pool
  br label %head
head:
  %k = phi i64 [1, %begin], [%following, %body]
  %more = icmp sle i64 %k, %threads
  br i1 %more, label %body, label %done
body:
  %worker = call ptr @worker(ptr %pool, i64 %k)
  %ticket = place Worker.ticket %worker
  atomicrmw add ptr %ticket, i64 1 seq_cst
  call void @signal(ptr %worker)
  %handle = field ptr Worker.handle %worker
  call i32 @pthread_join(ptr %handle, ptr null)
  %following = add i64 %k, 1
  br label %head
done:
  ret void
}}

; Runs the job, or goes on with it.
define i64 @parloom_run(ptr %pool, ptr %job) {{
entry:
  %now = call i64 @now()
  %until = add i64 %now, {SLICE}
  %was = field i64 Job.phase %job
  %new = icmp eq i64 %was, 0
  br i1 %new, label %start, label %resume
start:
  call void @begin(ptr %job, i64 %now)
  call void @share(ptr %pool, ptr %job)
  br label %chunks
resume:
  %resumed = field i64 Job.shared %job
  %forked = field i64 Pool.forked %pool
  %lost = and i64 %resumed, %forked
  %gone = icmp ne i64 %lost, 0
  br i1 %gone, label %without, label %chunks
chunks:
  %late = call i1 @take(ptr %job, i64 0, i64 %until)
  br i1 %late, label %pause, label %whether
whether:
  %shared = field i64 Job.shared %job
  %alone = icmp eq i64 %shared, 0
  br i1 %alone, label %complete, label %wait
wait:
  %empty = call i1 @close(ptr %pool, i1 false)
  br i1 %empty, label %free, label %pause
free:
  call void @give_back(ptr %pool, ptr %job)
  br label %complete
complete:
  %said = call i64 @complete(ptr %job, i64 %until)
  %again = icmp eq i64 %said, {AGAIN}
  br i1 %again, label %pause, label %done
pause:
  ret i64 {AGAIN}
without:
  ret i64 {FORKED}
done:
  call void @end(ptr %job)
  ret i64 %said
}}

; Stops a job that `run` has not ended: returns when nobody works at it any more.
define void @parloom_cancel(ptr %pool, ptr %job) {{
  %stop = place Job.stop %job
  store atomic i64 1, ptr %stop seq_cst, align 8
  %phase = place Job.phase %job
  store i64 0, ptr %phase
  %shared = field i64 Job.shared %job
  %forked = field i64 Pool.forked %pool
  %gone = icmp ne i64 %forked, 0
  %alone = icmp eq i64 %shared, 0
  %nobody = or i1 %gone, %alone
  br i1 %nobody, label %done, label %wait
wait:
  call i1 @close(ptr %pool, i1 true)
  call void @give_back(ptr %pool, ptr %job)
  br label %done
done:
  ret void
}}
"""
