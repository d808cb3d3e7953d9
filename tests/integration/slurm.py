#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The jobs of a Slurm cluster, which runs in a folder of its own: their logs
are found and followed, and what becomes of them is told.  Then the shapes
that newer versions print, as files."""
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
OURS = os.path.abspath(os.path.join(SRC, "src/pods/discover/slurm"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from manual import example  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from wait import until  # noqa: E402

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
for i in 1 2 3 4 5 6 7 8 9 10; do
echo "step:$i/20 train_loss:2.5 train_time:$((i * 50))ms step_avg:50.00ms"
done
while test -e "$1"; do sleep 0.2; done
"""


def free_ports(n):
    socks = [socket.socket() for _ in range(n)]
    for sock in socks:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return ports


class Cluster:
    def __init__(self, top):
        self.top, self.env = top, home_env(top, PATH=SBIN)
        self.env["SLURM_CONF"] = top + "/slurm.conf"
        self.daemons = []
        for name in "state", "spool", "logs", "config/hgym-tui":
            os.makedirs(f"{top}/{name}")
        with open(top + "/slurm.conf", "w") as file:
            file.write(CONF.format(top=top, ports=free_ports(2),
                                   user=getpass.getuser(),
                                   host=socket.gethostname().split(".")[0]))
        with open(top + "/job", "w") as file:
            file.write(JOB)
        os.chmod(top + "/job", 0o755)

    def start(self):
        """None, or why there is no cluster."""
        for name in "slurmctld", "slurmd", "sbatch":
            if shutil.which(name, path=SBIN) is None:
                return f"{name} is not installed"
        for name in "slurmctld", "slurmd":
            with open(f"{self.top}/{name}.log", "w") as log:
                self.daemons.append(subprocess.Popen(
                    [name, "-D"], env=self.env, stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL))
        if until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T")
                 .stdout, 60):
            return None
        for name in "slurmctld", "slurmd":
            with open(f"{self.top}/{name}.log") as log:
                note("".join(log.readlines()[-5:]))
        return "slurmctld and slurmd do not run here"

    def stop(self):
        if self.daemons:
            self.run("scancel", "-u", getpass.getuser())
        for daemon in self.daemons:
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def run(self, *words):
        return subprocess.run(words, env=self.env, text=True, cwd=self.top,
                              stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def batch(self, *words, stay=True):
        """Submit one that stays while there is a file of its own; its id."""
        open(self.top + "/stay", "w").close()
        done = self.run("sbatch", "--parsable", *words, "./job",
                        self.top + ("/stay" if stay else "/none"))
        return done.stdout.strip() or note(done.stderr)

    def rows(self):
        done = self.run(TUI, "runs", "--json")
        return {os.path.basename(row["path"]): row
                for row in map(json.loads, done.stdout.splitlines())}

    def said(self):
        with open(self.top + "/said") as file:
            return file.read()

    def is_read(self, name, steps=10):
        ok(until(lambda: self.rows().get(name, {}).get("steps") == steps),
           f"{name} is followed", (sorted(self.rows()), self.said()))

    def is_told(self, text, name):
        ok(until(lambda: f"slurm: job {text}" in self.said()), name,
           self.said())

    def is_told_again(self, job, text, name):
        """The same of a job that Slurm lets wait for a while.  It begins
        when its first processes are gone, or Slurm ends it with them."""
        until(lambda: subprocess.run(
            ["pgrep", "-f", f"slurmstepd: .{job}[.]"],
            stdout=subprocess.DEVNULL).returncode != 0)

        def is_there():
            self.run("scontrol", "update", f"JobId={job}", "StartTime=now")
            return f"slurm: job {job} {text}" in self.said()

        ok(until(is_there), name, self.said())


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
        cluster.is_read(f"my run-[{one.zfill(6)}].out")
        cluster.is_told(f"{one} my run: runs", "a job runs")
        waiting = cluster.batch("-J", "second")
        cluster.is_told(f"{waiting} second: waits (", "one waits, and for"
                        " what")
        cluster.run("scancel", one)
        cluster.is_told(f"{one} my run: was cancelled", "one is cancelled")
        name = f"my run-[{one.zfill(6)}].out"
        ok(until(lambda: cluster.rows()[name]["status"] == "killed"),
           "which ends its run", cluster.rows()[name]["status"])
        cluster.is_read(f"slurm-{waiting}.out")
        cluster.run("scontrol", "requeue", waiting)
        cluster.is_told_again(waiting, "second: runs, after a restart",
                              "one that was requeued")
        # It needs the whole node, be the first job there or over by now.
        high = cluster.batch("-p", "high", "-J", "urgent", "-c", "2",
                             stay=False)
        cluster.is_told_again(waiting, "second: runs, after 2 restarts",
                              "one that was preempted")
        cluster.is_told(f"{high} urgent: ended well", "for another")
        ok(cluster.rows()[f"slurm-{waiting}.out"]["steps"] == 10,
           "and its log begins anew", cluster.rows())
        cluster.is_told(f"{limited} limited: was ended by its time limit",
                        "the limit of a job")
        ok(until(lambda: cluster.rows()["limited.log"]["status"] ==
                 "killed"), "which ends its run")
        os.unlink(cluster.top + "/stay")
        lost = cluster.batch("-o", "nowhere/x.log", stay=False)
        cluster.is_told(f"{lost} job: could not write its output, is there a"
                        f" folder {cluster.top}/nowhere?", "an output folder"
                        " that is missing")
        tasks = cluster.batch("-a", "1-3", "-J", "sweep", stay=False)
        for i in 1, 2, 3:
            cluster.is_read(f"slurm-{tasks}_{i}.out")
        cluster.is_told(f"{tasks} sweep: 3 ended well", "the tasks of an"
                        " array are one sentence")
        child.send_signal(signal.SIGTERM)
        ok(child.wait(120) == 128 + signal.SIGTERM, "the end")
    finally:
        child.kill()
        child.wait()


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
              ["/w/slurm-7.out"], "runs"),
    "23.02": ([job(job_state="TIMEOUT", standard_output="/w/logs/7.out",
                   array_job_id=some(0), array_task_id=NONE, restart_cnt=1,
                   exit_code=0)],
              ["/w/logs/7.out"], "was ended by its time limit, after a"
              " restart"),
    "23.11": ([job(job_state=["FAILED"], standard_output="/w/gone/%A_%4a",
                   array_job_id=some(5), array_task_id=some(2),
                   exit_code={"status": ["SIGNALED"], "return_code": NONE,
                              "signal": {"id": some(53), "name": ""}})],
              ["/w/gone/5_0002"], "could not write its output, is there a"
              " folder /w/gone?"),
    "24.11": ([job(job_state=["OUT_OF_MEMORY"], standard_output="o/%x.%b.%N",
                   array_job_id=some(5), array_task_id=some(12),
                   exit_code=None)],
              ["/w/o/train.2.n1"], "ran out of memory"),
    "25.05": ([job(job_state=["PREEMPTED", "REQUEUED"],
                   standard_output="%j%%.out", stdout_expanded="/w/7%.out",
                   array_job_id=NONE, array_task_id=NONE),
               job(job_id=8, job_state=["RUNNING"], array_job_id=NONE,
                   standard_output=r"a\%j*.out")],
              ["/w/7%.out"], "was preempted")}


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
           f"as {version} prints it", done)
    with open(cluster.top + "/bin/ssh", "w") as file:
        file.write('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    os.chmod(file.name, 0o755)
    words = example("hgym-tui-config.5", '"hpc"')["discover"][0]["command"]
    done = cluster.run(OURS, *words[1:])
    pod = json.loads(done.stdout or "[{}]")[0]
    ok(pod.get("host") == "login.hpc" and pod.get("name") == "hpc" and
       pod.get("logs") == ["/w/7%.out"], "the example of the manual", done)
    with open(cluster.top + "/shape", "w") as file:
        json.dump({"jobs": [job(job_id=i, job_state="RUNNING", name="x" * 90)
                            for i in range(20000)]}, file)
    done = cluster.run(OURS)
    ok(done.returncode == 0 and len(done.stdout) < 262144,
       "20,000 jobs are no more than we take", len(done.stdout))
    with open(cluster.top + "/shape", "w") as file:
        file.write("slurm_load_jobs error: Unable to contact controller")
    done = cluster.run(OURS)
    ok(done.returncode == 1 and done.stdout == "" and
       "no JSON" in done.stderr, "no JSON is one sentence", done)


top = tempfile.mkdtemp(prefix="slurm.")
cluster = Cluster(top)
try:
    why = "the daemons are not ours" if os.environ.get("ASAN_OPTIONS") \
        else cluster.start()
    if why is None:
        test_jobs(cluster)
    else:
        skip("jobs of a real cluster", why)
    test_shapes(cluster)
finally:
    cluster.stop()
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
