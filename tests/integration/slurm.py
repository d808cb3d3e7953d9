#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs of a real Slurm cluster: their logs are found and followed, their states
reported, benches run in allocations.  Each group of tests has a cluster of its
own, and all run at the same time: they mostly wait for Slurm.  The formats
that newer versions of squeue print come from files."""
import getpass
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
OURS = os.path.abspath(os.path.join(SRC, "src/pods/discover/slurm"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from manual import example  # noqa: E402
from process import Process, pids_of, read_pid  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

SBIN = os.environ["PATH"] + ":/usr/sbin:/sbin"
CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool
SlurmctldPidFile={top}/ctld.pid
SlurmdPidFile={top}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0,requeue_delay=1
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES State=UP PriorityTier=1
PartitionName=high Nodes={host} State=UP PriorityTier=10
"""
JOB = """#!/bin/sh
for i in $(seq 100); do
echo "step:$i/200 train_loss:2.5 train_time:$((i * 50))ms step_avg:50.00ms"
done
while test -e "$1"; do sleep 0.2; done
"""


def reserve_port():
    """A socket that does not listen: until it is closed, its port goes only to
    a program that asks for this port and sets SO_REUSEADDR, as Slurm does."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return sock


def sweep(top, end):
    """Wait until the test has ended, even if it was killed.  Then kill all that
    it started: daemons, steps and jobs."""
    os.setsid()
    for signum in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        signal.signal(signum, signal.SIG_IGN)
    os.read(end, 1)
    for pid in iter(lambda: next(iter(pids_of(top)), None), None):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        time.sleep(0.01)
    shutil.rmtree(top, ignore_errors=True)


class Cluster:
    def __init__(self):
        self.top = top = tempfile.mkdtemp(prefix="slurm.")
        end, self.end = os.pipe()
        self.sweeper = os.fork()
        if self.sweeper == 0:
            try:
                # Close other clusters' pipes, so that each sees its own end.
                os.closerange(3, end)
                os.closerange(end + 1, 256)
                sweep(top, end)
            finally:
                os._exit(0)
        os.close(end)
        self.env = home_env(top, PATH=SBIN)
        self.env["SLURM_CONF"] = top + "/slurm.conf"
        for name in "state", "spool", "logs", "config/hgym-tui":
            os.makedirs(f"{top}/{name}")
        self.reserved = [reserve_port(), reserve_port()]
        ports = [sock.getsockname()[1] for sock in self.reserved]
        with open(top + "/slurm.conf", "w") as file:
            file.write(CONF.format(top=top, ports=ports,
                                   user=getpass.getuser(),
                                   host=socket.gethostname().split(".")[0]))
        with open(top + "/job", "w") as file:
            file.write(JOB)
        os.chmod(top + "/job", 0o755)

    def start(self):
        """Start the daemons.  Returns why they do not run, or None."""
        for name in "slurmctld", "slurmd", "sbatch":
            if shutil.which(name, path=SBIN) is None:
                return f"needs {name} (Debian package slurm-wlm)"
        daemons = []
        for name in "slurmctld", "slurmd":
            with open(f"{self.top}/{name}.log", "w") as log:
                daemons.append(subprocess.Popen(
                    [name, "-D"], env=self.env, stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL))

        def is_idle():
            return "idle" in self.run("sinfo", "-h", "-o", "%T").stdout

        if until(lambda: is_idle() or any(
                daemon.poll() is not None for daemon in daemons)) and is_idle():
            return None
        for name in "slurmctld", "slurmd":
            with open(f"{self.top}/{name}.log") as log:
                note("".join(log.readlines()[-5:]))
        return "slurmctld and slurmd do not start on this machine"

    def stop(self):
        os.close(self.end)
        os.waitpid(self.sweeper, 0)

    def run(self, *words):
        return subprocess.run(words, env=self.env, text=True, cwd=self.top,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def batch(self, *words, stay=True):
        """Submit a job, which runs until the file "stay" is deleted if stay is
        true.  Returns its id."""
        open(self.top + "/stay", "w").close()
        done = self.run("sbatch", "--parsable", *words, "./job",
                        self.top + ("/stay" if stay else "/none"))
        return done.stdout.strip() or note(done.stderr)

    def only_job(self):
        return self.run("squeue", "-ho", "%i").stdout.strip()

    def rows(self):
        done = self.run(TUI, "runs", "--json")
        return {os.path.basename(row["path"]): row
                for row in map(json.loads, done.stdout.splitlines())}

    def output(self):
        with open(self.top + "/said") as file:
            return file.read()

    def expect_read(self, name, steps=100):
        ok(until(lambda: self.rows().get(name, {}).get("steps") == steps),
           f"collect follows {name}", (sorted(self.rows()), self.output()))

    def expect_note(self, text, name):
        ok(until(lambda: f"slurm: job {text}" in self.output()), name,
           self.output())

    def restart(self, job):
        """Start a requeued job now: Slurm would let it wait.  Its first
        processes must be gone, else Slurm kills it with them."""
        until(lambda: "RUNNING" not in self.run("squeue", "-hj", job, "-o",
                                                "%T").stdout and
              not glob.glob(f"{self.top}/spool/*_{job}.*"))

        # Slurm does not start a job in the second in which it revoked it.
        time.sleep(2)

        def is_there():
            self.run("scontrol", "update", f"JobId={job}", "StartTime=now")
            return self.run("squeue", "-hj", job, "-o", "%T"
                            ).stdout.strip() == "RUNNING"

        until(is_there)

    def expect_restart(self, job, text, name):
        self.restart(job)
        self.expect_note(f"{job} {text}", name)


def test_jobs(cluster):
    with open(cluster.top + "/config/hgym-tui/config.json", "w") as file:
        json.dump({"discover": [{"name": "hpc", "command": [OURS],
                                 "every_s": 1}]}, file)
    limited = cluster.batch("-p", "high", "-J", "limited", "-t", "1",
                            "-o", "limited.log")
    with open(cluster.top + "/said", "w") as said:
        child = subprocess.Popen([TUI, "collect"], env=cluster.env,
                                 stderr=said)
    try:
        one = cluster.batch("-J", "my run", "-o", "logs/%x-[%6j].out")
        cluster.expect_read(f"my run-[{one.zfill(6)}].out")
        cluster.expect_note(f"{one} my run: running", "a job runs: reported")
        # It waits as long as the first job runs, whether a core is free or not.
        waiting = cluster.batch("-J", "second", "-d", "afterany:" + one)
        cluster.expect_note(f"{waiting} second: pending (",
                            "a job waits: reported with the reason")
        cluster.run("scancel", one)
        cluster.expect_note(f"{one} my run: cancelled", "a job is cancelled: reported")
        name = f"my run-[{one.zfill(6)}].out"
        ok(until(lambda: cluster.rows()[name]["status"] == "killed"),
           "a job is cancelled: its run was killed",
           cluster.rows()[name]["status"])
        cluster.expect_read(f"slurm-{waiting}.out")
        cluster.run("scontrol", "requeue", waiting)
        cluster.expect_restart(waiting, "second: running, after a restart",
                               "a job is requeued: its restart is reported")
        # It needs the whole node, whether the first job still runs or not.
        high = cluster.batch("-p", "high", "-J", "urgent", "-c", "2",
                             stay=False)
        cluster.expect_restart(waiting, "second: running, after 2 restarts",
                               "a job is preempted: both restarts are reported")
        cluster.expect_note(f"{high} urgent: completed", "the job that preempted it completes: reported")
        ok(until(lambda: cluster.rows()[f"slurm-{waiting}.out"]["steps"] == 100),
           "a restarted job: its log starts again", cluster.rows())
        cluster.expect_note(f"{limited} limited: time limit reached",
                            "a job reaches its time limit: reported")
        ok(until(lambda: cluster.rows()["limited.log"]["status"] ==
                 "killed"), "a job reaches its time limit: its run was killed")
        os.unlink(cluster.top + "/stay")
        lost = cluster.batch("-o", "nowhere/x.log", stay=False)
        cluster.expect_note(f"{lost} job: cannot write its output; does the"
                            f" directory {cluster.top}/nowhere exist?",
                            "the output folder does not exist: reported")
        tasks = cluster.batch("-a", "1-3", "-J", "sweep", stay=False)
        for i in 1, 2, 3:
            cluster.expect_read(f"slurm-{tasks}_{i}.out")
        cluster.expect_note(f"{tasks} sweep: 3 completed",
                            "a job array: one sentence for all tasks")
        child.send_signal(signal.SIGTERM)
        ok(child.wait(PATIENCE_S) == 128 + signal.SIGTERM, "collect ends on SIGTERM")
    finally:
        child.kill()
        child.wait()


class Bench:
    """A bench of three blocks on the pod "hpc"; B is 5.26 % faster."""

    def __init__(self, cluster, name, env, b=(), **slurm):
        self.cluster, self.name = cluster, name
        self.root = f"{cluster.top}/root-{name}"
        pod = {"name": "hpc", "transport": "local", "slurm": slurm}
        with open(cluster.top + "/config/hgym-tui/config.json", "w") as file:
            json.dump({"pods": [pod]}, file)
        self.plan = f"{cluster.top}/{name}.json"
        with open(self.plan, "w") as file:
            json.dump({
                "schema": "hgym.bench/1", "name": name, "seed": 7,
                "workload": {"cwd": os.path.join(SRC, "tests/bench"),
                             "command": "sh workload.sh", "timeout_s": 600,
                             "env": dict({"STEP_MS": "2000"}, **env)},
                "metric": {"key": "step_ms", "window": {
                    "mode": "fixed", "lo": 20, "hi": 100}},
                "variants": [{"tag": "A", "control": True},
                             {"tag": "B",
                              "env": dict({"STEP_MS": "1900"}, **dict(b))}],
                "pods": [{"id": "hpc", "root": self.root,
                          "lock_dir": cluster.top}],
                "design": {"blocks_per_pod": 3, "burn_in": 0, "gap_s": 0,
                           "aa": False},
                "decision": {"early": "none"}}, file)

    def tui(self, *words):
        return self.cluster.run(TUI, "bench", *words)

    def start(self):
        self.said = self.cluster.top + "/said-" + self.name
        with open(self.said, "w") as said:
            return subprocess.Popen(
                [TUI, "bench", "run", "--yes", self.plan], stderr=said,
                stdout=subprocess.DEVNULL, env=self.cluster.env,
                stdin=subprocess.DEVNULL)

    def expect_message(self, text, name):
        def read():
            with open(self.said) as file:
                return file.read()
        ok(until(lambda: text in read()), name, read())

    def files(self, pattern):
        return glob.glob(f"{self.root}/*/{pattern}")

    def expect_cleaned_up(self):
        def left():
            return (self.cluster.run("squeue", "-h").stdout,
                    self.cluster.run("pgrep", "-fl", self.root).stdout)
        ok(until(lambda: left() == ("", "")),
           f"bench {self.name}: no job and no process is left", left())


def test_bench(cluster):
    """The program is killed, its job preempted and cancelled: the bench goes on,
    and each block has the runs of one allocation."""
    go = cluster.top + "/go"
    # The first run exits with 0 on TERM, as if it had finished.
    bench = Bench(cluster, "on", {
        "WAIT_FOR": f"case $job in */1_*.b*) test -e {go};; */1_*) trap "
        f"'exit 0' TERM; test -e {go};; esac"}, partition="main", time="9")
    child = bench.start()
    ok(until(lambda: bench.files("1_hpc_*/pid")), "a bench on Slurm: the second block starts")
    child.kill()
    child.wait()
    job = cluster.only_job()
    urgent = cluster.batch("-p", "high", "-c", "2", stay=False)
    ok(until(lambda: cluster.run("squeue", "-hj", urgent).stdout == ""),
       "hgym-tui is killed, then the job is preempted")
    child = subprocess.Popen(
        [TUI, "bench", "attach", "--json", "on"], env=cluster.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)

    cluster.restart(job)
    ok(until(lambda: bench.files("1_hpc_*.b1/pid")),
       "bench attach: the block starts again")
    cluster.run("scancel", cluster.only_job())
    ok(until(lambda: bench.files("1_hpc_*.b2/pid")),
       "the job is cancelled: the block starts again in a new job")
    # No trap of the run is executed, and the job still exists.
    with open(bench.files("1_hpc_*.b2/pid")[0]) as file:
        group = int(file.read().split()[1])
    job = cluster.only_job()
    cluster.run("scontrol", "requeue", job)
    os.killpg(group, signal.SIGKILL)
    cluster.restart(job)
    ok(until(lambda: bench.files("1_hpc_*.b3/pid")),
       "all processes of the job are killed: the block starts again")
    open(go, "w").close()
    out, said = child.communicate(timeout=PATIENCE_S)
    verdict = json.loads(out or "{}")
    found = verdict.get("contrasts", [{}])[0]
    ok(found.get("verdict") == "FASTER" and found.get("n_blocks") == 3,
       "the verdict FASTER uses three complete blocks", (out, said))
    runs = {}
    for name in glob.glob(cluster.top + "/state/hgym-tui/benches/on-*/runs/"
                          "*/run.json"):
        with open(name) as file:
            run = json.load(file)
        runs.setdefault(run["block"], set()).add(run["allocation"])
    ok(len(runs) == 3 and all(len(of) == 1 for of in runs.values()) and
       len(set.union(*runs.values())) == 2,
       "the runs of a block share one allocation", runs)
    with open(glob.glob(cluster.top + "/state/hgym-tui/benches/on-*/"
                        "repeats.json")[0]) as file:
        why = [repeat["reason"] for repeat in json.load(file)]
    ok(len(why) == 3 and all("Slurm ended its allocation (" in w for w in why),
       "three blocks were repeated because Slurm ended the allocation", why)
    ok("squeue lists no job" in said,
       "the allocation is released: squeue lists no job", said)
    bench.expect_cleaned_up()
    ok(bench.tui("clean", "on").returncode == 0 and not bench.files("*"),
       "bench clean removes the folders of the bench")


def test_liars(cluster):
    """A variant that kills itself, its allocation, or the batch job."""
    bench = Bench(cluster, "self", {}, {
        "WAIT_FOR": "case $job in */0_*) kill -TERM $$;; *) kill -TERM 0;;"
        " esac"})
    done = bench.tui("run", "--yes", "--json", bench.plan)
    ok("exit status 143" in done.stdout and "Slurm ended" not in done.stderr
       and not glob.glob(cluster.top + "/state/hgym-tui/benches/self-*/"
                         "repeats.json"),
       "a variant kills itself: exit status 143, no repeat", done)
    bench = Bench(cluster, "ends", {"WAIT_FOR": "scancel $SLURM_JOB_ID;false"})
    child = bench.start()
    ok(until(lambda: bench.files("0_hpc_*/pid")), "a variant cancels its allocation")
    child.kill()
    child.wait()
    folder, = glob.glob(cluster.top + "/state/hgym-tui/benches/ends-*")
    with open(folder + "/repeats.json", "w") as file:
        json.dump([{"pod": "hpc", "block": 0, "reason": "x"}] * 20, file)
    done = bench.tui("attach", "ends")
    ok(done.returncode == 4 and "hpc: block 1 was repeated 20 times; last "
       "reason: 0_hpc_A.b20: Slurm ended its" in done.stderr,
       "a variant cancels its allocation: gives up after 20 repeats", done)
    bench = Bench(cluster, "holds", {
        "LAST_S": "900", "WAIT_FOR": "trap '' TERM; pkill -KILL -f "
        f"{cluster.top}/spool/job"})
    done = bench.tui("run", "--yes", bench.plan)
    ok(done.returncode == 4 and " failed, see " in done.stderr,
       "a variant kills the batch job: the bench fails", done)
    mark = os.path.basename(glob.glob(bench.root + "/*")[0])
    ok(until(lambda: not pids_of(mark)),
       "a variant kills the batch job: no process is left", pids_of(mark))


def test_abort(cluster):
    bench = Bench(cluster, "hang", {"MODE": "hang",
                                    "PIDS": cluster.top + "/pids"})
    child = bench.start()
    ok(until(lambda: read_pid(cluster.top + "/pids.3")), "a run on Slurm hangs")
    workers = [Process(read_pid(f"{cluster.top}/pids.{i}")) for i in (1, 2, 3)]
    ok(all(w.is_running() for w in workers), "its workers run", workers)
    done = bench.tui("abort", "hang")
    ok(done.returncode == 0 and "no process left" in done.stderr and
       "squeue lists no job" in done.stderr,
       "bench abort: no process and no job is left", done)
    child.wait(PATIENCE_S)
    ok(until(lambda: not any(w.is_running() for w in workers)),
       "bench abort: workers in other sessions are gone", workers)
    bench.expect_cleaned_up()
    other = cluster.batch("-c", "2")
    bench = Bench(cluster, "queue", {}, extra=["--comment=it's ours"])
    child = bench.start()
    bench.expect_message("waiting for its Slurm allocation: job ",
                         "a bench waits in the queue: reported")
    done = bench.tui("abort", "queue")
    cluster.run("scancel", other)
    child.wait(PATIENCE_S)
    ok(done.returncode == 0 and "squeue lists no job" in done.stderr,
       "bench abort: the waiting job leaves the queue", done)
    until(lambda: cluster.run("squeue", "-h").stdout == "")
    bench.expect_cleaned_up()
    bench = Bench(cluster, "wrong", {}, partition="nowhere")
    done = bench.tui("run", "--yes", bench.plan)
    ok(done.returncode == 4 and "hpc: sbatch: Batch job submission failed: "
       "Invalid partition" in done.stderr,
       "sbatch refuses the job: its message is shown", done)


BENCH = os.path.abspath(os.path.join(SRC, "src/bench"))
SILENT = f"""cd "$HOME"; mkdir -p silent; HB_ROOT=$HOME HB_BENCH=silent HB_JOB=.
SLURM_JOB_ID=7; . {BENCH}/launch_job.sh; . {BENCH}/launch.sh
sleep() {{ :; }}
squeue() {{ false; }}
"""
# The timer of a run.  It expires while squeue is running, unless the run has
# stopped it before.
LATE = {"sleep": """test "$1" = 12345 || exec /bin/sleep "$1"
echo $PPID >timer
until test -e asked; do /bin/sleep 0.05; done
""", "squeue": """: >asked
until test -e timedout; do
	case $(sed 's/.*) //' "/proc/$(cat timer)/stat" 2>&1) in
	Z* | sed*) break ;;
	esac
	/bin/sleep 0.05
done
echo 7 0 RUNNING
"""}


def test_silence(cluster):
    """Slurm does not answer, or the job has no node: nothing waits for ever."""
    done = cluster.run("sh", "-c", SILENT + """is_held() { true; }
is_over "7.0 n" . || echo it runs; is_held() { false; }
is_over "7.0 n" . && echo it is over; sleep() { echo asked twice; }
is_over "7.0 n" . ; sleep() { :; }
squeue() { echo 7 1 RUNNING; }; is_held() { true; }
is_over "7.0 n" . && echo it began again""")
    ok(done.stdout == "it runs\nit is over\nit began again\n",
       "squeue fails: the state of the node decides whether the job runs", done)
    done = cluster.run("sh", "-c", SILENT + "is_held() { false; }\n"
                       "order_job x; is_held() { true; }; order_job x; exit 3")
    ok(done.stdout == "HB1 error Slurm job 7 has no node\n"
       "HB1 error Slurm job 7 did not start the run\n" and done.returncode == 3 and
       not os.path.exists(cluster.top + "/silent/begin.sh"),
       "a batch job that does not start a run is reported, and starts none later",
       done)
    os.mkdir(cluster.top + "/late")
    for name, text in LATE.items():
        with open(f"{cluster.top}/late/{name}", "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(file.name, 0o755)
    done = cluster.run("sh", "-c", SILENT + """write_run silent
{ write_work && write_marked; } >silent/work.sh; cd silent
echo 7.0 n >alloc; echo 'until test -s timer; do sleep 0.05; done' >cmd.sh
export SLURM_JOB_ID HB_TIMEOUT=12345 HB_CWD=. HB_MARK='silent/.;'
PATH=$HOME/late:$PATH setsid -w sh ./run.sh; cat exit""")
    ok(done.stdout.startswith("0 "),
       "a run that ends just before its time limit keeps its exit status", done)


USER = getpass.getuser()


def job(**more):
    return dict({"job_id": 7, "name": "train", "user_name": USER,
                 "current_working_directory": "/w", "batch_host": "n1.x"},
                **more)


def some(number):
    return {"set": True, "infinite": False, "number": number}


NONE = {"set": False, "infinite": False, "number": 0}
SHAPES = {
    "22.05": ([job(job_state="RUNNING", standard_output="", array_job_id=0,
                   array_task_id=None, restart_cnt=0, exit_code=0),
               job(job_state="RUNNING", user_name="somebody-else")],
              ["/w/slurm-7.out"], "running"),
    "23.02": ([job(job_state="TIMEOUT", standard_output="/w/logs/7.out",
                   array_job_id=some(0), array_task_id=NONE, restart_cnt=1,
                   exit_code=0)],
              ["/w/logs/7.out"], "time limit reached, after a"
              " restart"),
    "23.11": ([job(job_state=["FAILED"], standard_output="/w/gone/%A_%4a",
                   array_job_id=some(5), array_task_id=some(2),
                   exit_code={"status": ["SIGNALED"], "return_code": NONE,
                              "signal": {"id": some(53), "name": ""}})],
              ["/w/gone/5_0002"], "cannot write its output; does the"
              " directory /w/gone exist?"),
    "24.11": ([job(job_state=["OUT_OF_MEMORY"], standard_output="o/%x.%b.%N",
                   array_job_id=some(5), array_task_id=some(12),
                   exit_code=None)],
              ["/w/o/train.2.n1"], "out of memory"),
    "25.05": ([job(job_state=["PREEMPTED", "REQUEUED"],
                   standard_output="%j%%.out", stdout_expanded="/w/7%.out",
                   array_job_id=NONE, array_task_id=NONE),
               job(job_id=8, job_state=["RUNNING"], array_job_id=NONE,
                   standard_output=r"a\%j*.out")],
              ["/w/7%.out"], "preempted")}


def test_shapes(cluster):
    os.mkdir(cluster.top + "/bin")
    with open(cluster.top + "/bin/squeue", "w") as file:
        file.write('#!/bin/sh\ncat "$HOME/shape"\n')
    os.chmod(file.name, 0o755)
    cluster.env["PATH"] = cluster.top + "/bin:" + cluster.env["PATH"]
    for version, (jobs, logs, words) in SHAPES.items():
        with open(cluster.top + "/shape", "w") as file:
            json.dump({"jobs": jobs}, file)
        done = cluster.run(OURS)
        pod = json.loads(done.stdout or "[{}]")[0]
        ok(pod.get("logs") == logs and words in str(pod.get("notes")),
           f"output of squeue {version}", done)
    with open(cluster.top + "/bin/ssh", "w") as file:
        file.write('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    os.chmod(file.name, 0o755)
    manual = example("hgym-tui-config.5", '"hpc"')
    words = manual["discover"][0]["command"]
    done = cluster.run(OURS, *words[1:])
    pod = json.loads(done.stdout or "[{}]")[0]
    ok(pod.get("host") == "login.hpc" and pod.get("name") == "hpc" and
       pod.get("logs") == ["/w/7%.out"], "the manual's example for a login node", done)
    for name, text in (("squeue", ""), ("sbatch", 'echo "$*" >"$HOME/options"; exit 1')):
        with open(f"{cluster.top}/bin/{name}", "w") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(file.name, 0o755)
    bench = Bench(cluster, "manual", {}, **manual["pods"][0]["slurm"])
    done = bench.tui("run", "--yes", bench.plan)
    with open(cluster.top + "/options") as file:
        options = file.read()
    ok(" --partition=gpu --gres=gpu:1 --time=4:00:00 --account=ml --exclusive"
       in options, "the manual's example: options of sbatch", (options, done))
    with open(cluster.top + "/bin/squeue", "w") as file:
        file.write('#!/bin/sh\ncat "$HOME/shape"\n')
    with open(cluster.top + "/shape", "w") as file:
        json.dump({"jobs": [job(job_id=i, job_state="RUNNING", name="x" * 90)
                            for i in range(20000)]}, file)
    done = cluster.run(OURS)
    ok(done.returncode == 0 and len(done.stdout) < 262144,
       "20,000 jobs: the output stays below the limit", len(done.stdout))
    with open(cluster.top + "/shape", "w") as file:
        file.write("slurm_load_jobs error: Unable to contact controller")
    done = cluster.run(OURS)
    ok(done.returncode == 1 and done.stdout == "" and
       "not JSON" in done.stderr, "squeue prints no JSON: one sentence", done)


def test_killed(cluster):
    """A test that is killed leaves no daemon, no step and no job."""
    child = subprocess.Popen([sys.executable, __file__, "hang"], text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    top = child.stdout.readline().strip()
    ran = len(pids_of(top))
    child.kill()
    child.communicate()
    ok(ran > 2 and until(lambda: not pids_of(top) and not
                         os.path.exists(top)),
       "the test is killed: no process and no file is left",
       (ran, pids_of(top)))


def hang():
    """Print the folder of a cluster that runs a job, and wait to be killed."""
    cluster = Cluster()
    if cluster.start() is None:
        cluster.batch()
        until(lambda: glob.glob(cluster.top + "/slurm-*.out"))
    print(cluster.top, flush=True)
    signal.pause()


def run(test, cluster, needs_daemons):
    why = cluster.start() if needs_daemons else None
    if why is None:
        begin = time.monotonic()
        test(cluster)
        note(f"{test.__name__}: {time.monotonic() - begin:.0f} s")
    else:
        skip(f"{test.__name__}: a real cluster", why)


def main():
    with_daemons = (test_jobs, test_bench, test_liars, test_abort, test_killed)
    if os.environ.get("ASAN_OPTIONS"):
        skip("a real cluster", "Slurm is not built with a sanitizer")
        with_daemons = ()
    # Cluster() forks, so start every cluster before the first thread.
    cases = [(test, Cluster(), test in with_daemons)
             for test in (*with_daemons, test_silence, test_shapes)]
    with ThreadPoolExecutor(len(cases)) as pool:
        for case in [pool.submit(run, *case) for case in cases]:
            case.result()
    for _, cluster, _ in cases:
        cluster.stop()
    return finish()


if sys.argv[1:] == ["hang"]:
    hang()
else:
    sys.exit(main())
