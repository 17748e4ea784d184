"""A Slurm of several nodes on this machine (as root): each node in a mount namespace in which some folder is hidden."""
import os, shutil, socket, subprocess, time

import harness

NEEDED = ["slurmctld", "slurmd", "munged", "sbatch"]

CONF = """ClusterName=galley
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=5
SlurmdTimeout=10
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port={first}-{last} CPUs=2 State=UNKNOWN
PartitionName=cook Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""


def is_there():
    return os.geteuid() == 0 and all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in NEEDED)


def free_ports(count):
    """Some ports in a row that nobody listens on."""
    for first in range(17_000, 30_000, 100):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


class SlurmCluster:
    def __init__(self, folder, hidden, nodes=4):
        self.folder, self.hidden = folder, hidden
        self.host = socket.gethostname().split(".")[0]
        for name in ("", "state", *(f"spool-n{n}" for n in range(1, nodes + 1))):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        first = free_ports(nodes + 1)
        with open(os.path.join(folder, "slurm.conf"), "w") as file:
            file.write(CONF.format(host=self.host, port=first, folder=folder, nodes=nodes, first=first + 1, last=first + nodes))
        with open(os.path.join(folder, "munge.key"), "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(os.path.join(folder, "munge.key"), 0o400)
        # (munged wants that nobody else may write to the folders above its files.)
        self.environment = {"SLURM_CONF": os.path.join(folder, "slurm.conf")}
        self.running = {}
        self.start("munged", "--foreground", "--force", "--key-file", f"{folder}/munge.key", "--socket", f"{folder}/munge.socket",
                   "--pid-file", f"{folder}/munge.pid", "--seed-file", f"{folder}/munge.seed", "--log-file", f"{folder}/munge.log", name="munged")
        self.wait(lambda: os.path.exists(f"{folder}/munge.socket"), "munged")
        self.start("slurmctld", "-D", "-f", f"{folder}/slurm.conf", name="slurmctld")
        for n in range(1, nodes + 1):
            self.start_node(f"n{n}")
        self.wait(lambda: self.run("sinfo", "-h", "-o", "%T").strip() == "idle", "idle nodes")

    def start(self, *command, name):
        log = open(os.path.join(self.folder, f"{name}.out"), "ab")
        path = shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        self.running[name] = subprocess.Popen([path, *command[1:]], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                              env={**os.environ, **self.environment})
        log.close()

    def start_node(self, node):
        slurmd = shutil.which("slurmd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        hide = 'mount -t tmpfs none "$0" && exec "$@"'
        self.start("unshare", "-m", "sh", "-c", hide, self.hidden, slurmd, "-D", "-f", f"{self.folder}/slurm.conf", "-N", node, name=node)

    def run(self, *command):
        done = subprocess.run(command, text=True, capture_output=True, env={**os.environ, **self.environment})
        return done.stdout if done.returncode == 0 else f"{done.returncode}: {done.stderr}"

    @staticmethod
    def wait(condition, what, limit_s=60):
        until = time.time() + limit_s
        while not condition():
            if time.time() > until:
                raise RuntimeError(f"waited in vain for {what}")
            time.sleep(0.05)

    def jobs(self):
        """[(job_task, state, node)] of all that Slurm knows."""
        lines = self.run("squeue", "-h", "-r", "-o", "%i|%T|%N").splitlines()
        return [tuple(line.split("|")) for line in lines]

    def end(self):
        self.run("scancel", "--me")
        harness.end_in_turn(reversed(list(self.running.values())), patience_s=10)
