# A cluster on this machine, for the command that follows the folder: a controller with a NATS server, and four nodes sn1 to sn4,
# which Slurm and ssh reach. Each node has a network, a name, a boot id and a /var/tmp of its own. The cluster must have
# namespaces of its own for mounts, the network, processes, the host's name and IPC: all of it ends with the first process.
#
#   unshare --mount --net --pid --uts --ipc --fork --kill-child bash cluster.sh FOLDER COMMAND...
set -e
folder=$1
shift
await() {
    local deadline=$((SECONDS + 120))
    until "$@" 2> "$folder/told"; do
        [ $SECONDS -lt $deadline ] || { echo "not within 120 s: $*" >&2; exit 1; }
        sleep 0.05
    done
}
nodes_are_idle() { [ "$(sinfo --noheader --format=%T)" = idle ]; }
mount --make-rprivate /
mount -t proc proc /proc
ip link set lo up
# Names are looked up only where there is an address besides the loopback's.
ip link add cluster type bridge
ip address add 10.9.0.1/24 dev cluster
ip link set cluster up
hostname controller
printf '127.0.0.1 localhost\n10.9.0.1 controller\n10.9.0.11 sn1\n10.9.0.12 sn2\n10.9.0.13 sn3\n10.9.0.14 sn4\n' > "$folder/hosts"
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
NodeName=sn[1-4] NodeAddr=10.9.0.[11-14] CPUs=2 RealMemory=1000
PartitionName=all Nodes=sn[1-4] Default=YES MaxTime=60
END
printf 'CgroupAutomount=no\nConstrainCores=no\n' > "$folder/cgroup.conf"
export SLURM_CONF=$folder/slurm.conf
slurmctld -c
# Root can log in on all nodes, and each knows what it needs for that.
mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
cat > "$folder/sshd_config" <<END
HostKey $folder/key
AuthorizedKeysFile $folder/key.pub
StrictModes no
UsePAM no
PidFile none
END
printf 'sn1,sn2,sn3,sn4 %s\n' "$(cat "$folder/key.pub")" > "$folder/known_hosts"
cat > "$folder/ssh_config" <<END
IdentityFile $folder/key
IdentitiesOnly yes
UserKnownHostsFile $folder/known_hosts
GlobalKnownHostsFile none
StrictHostKeyChecking yes
END
mount --bind "$folder/ssh_config" /etc/ssh/ssh_config
node='
hostname $0
echo $0 > "$1/$0.boot"
mount --bind "$1/$0.boot" /proc/sys/kernel/random/boot_id
mkdir --mode 1777 "$1/$0.tmp"
mount --bind "$1/$0.tmp" /var/tmp
ip link set lo up
until ip link set eth0 up 2> "$1/$0.told"; do sleep 0.02; done
ip address add $2/24 dev eth0
slurmd -N $0
exec /usr/sbin/sshd -D -f "$1/sshd_config" -E "$1/$0.sshd.log"
'
for number in 1 2 3 4; do
    unshare --mount --net --uts sh -ec "$node" sn$number "$folder" 10.9.0.1$number &
    ip link add port$number type veth peer name to$number
    ip link set port$number master cluster up
    await [ -e "$folder/sn$number.boot" ]
    ip link set to$number netns $! name eth0
done
for number in 1 2 3 4; do await ssh sn$number true; done
await nodes_are_idle
printf 'listen: "10.9.0.1:4222"\nauthorization { token: "a secret" }\n' > "$folder/nats.conf"
/usr/sbin/nats-server -c "$folder/nats.conf" > "$folder/nats.log" 2>&1 &
await grep -q 'Server is ready' "$folder/nats.log"
"$@"
