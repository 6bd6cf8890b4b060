# Becomes a native machine: joins the cgroup, mounts the data disk, then turns into the given command.
# Mounts are made in a mount namespace of this process alone, and a loop device made by mount frees itself, so that
# nothing is left whichever way the process ends.
set -eu
cgroup=$1 disk=$2 folder=$3 options=$4 answer=$5
shift 5

if [ -n "$cgroup" ]; then
    echo $$ > "$cgroup/cgroup.procs"
fi
if [ -n "$disk" ]; then
    # 71 tells our caller that the disk could not be mounted; standard error says why.
    mount -t ext4 -o "$options" "$disk" "$folder" || exit 71
    source=$(findmnt --noheadings --output SOURCE --mountpoint "$folder")
    case $source in
        # A virtual machine's disk bypasses the host's page cache by default; so does this one where the filesystem
        # below allows it. The answer is read back by our caller.
        /dev/loop*) losetup --direct-io=on "$source" || true ;;
    esac
    echo "$source" > "$answer"
fi
exec "$@"
