# Makes what bubblewrap would make, for root on a host without it, and turns into the given command.
# Runs as the first process of its own process, mount and IPC namespaces: all of it goes when this process does.
set -eu
root=$1 tree=$2 agent=$3 agent_inside=$4 logs=$5 data=$6 data_inside=$7 writable=$8
shift 8

mount --bind "$tree" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
for folder in $writable; do
    mount -t tmpfs -o mode=1777 tmpfs "$root$folder"
done
mkdir -p "$root$logs" "$(dirname "$root$agent_inside")"
: > "$root$agent_inside"
mount --bind "$agent" "$root$agent_inside"
mount --bind "$data" "$root$data_inside"
exec "$@"
