# A cluster of Slurm on this machine, with four nodes and a server of NATS, for the commands that follow the folder. It must have
# namespaces of its own for mounts, the network, processes, the host's name and IPC: all of it ends with the first process.
#
#   unshare --mount --net --pid --uts --ipc --fork --kill-child bash slurm.sh FOLDER COMMAND...
set -e
folder=$1
shift
mount --make-rprivate /
mount -t proc proc /proc
ip link set lo up
# Names are looked up only where there is an address besides the loopback's.
ip link add cluster type bridge
ip address add 10.9.0.1/24 dev cluster
ip link set cluster up
hostname controller
printf '127.0.0.1 localhost\n10.9.0.1 controller\n' > "$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
# The nodes' daemons want these control groups to be mounted, and make none.
mount -t tmpfs tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/freezer /sys/fs/cgroup/systemd
mount -t cgroup -o freezer cgroup /sys/fs/cgroup/freezer
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
mkdir "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom > "$folder/munge.key"
chmod 400 "$folder/munge.key"
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" 2> "$folder/munged.told"
cat > "$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=controller(10.9.0.1)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName=sn[1-4] NodeHostname=controller NodeAddr=10.9.0.1 Port=[17001-17004] CPUs=2 RealMemory=1000
PartitionName=all Nodes=sn[1-4] Default=YES MaxTime=10
END
printf 'CgroupAutomount=no\nConstrainCores=no\n' > "$folder/cgroup.conf"
export SLURM_CONF=$folder/slurm.conf
slurmctld -c
for node in sn1 sn2 sn3 sn4; do slurmd -N $node; done
until [ "$(sinfo --noheader --format=%T)" = idle ]; do sleep 0.1; done
printf 'listen: "10.9.0.1:4222"\nauthorization { token: "a secret" }\n' > "$folder/nats.conf"
/usr/sbin/nats-server -c "$folder/nats.conf" > "$folder/nats.log" 2>&1 &
until grep -q 'Server is ready' "$folder/nats.log"; do sleep 0.1; done
"$@"
