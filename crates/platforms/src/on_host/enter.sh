# Becomes a machine on the host's kernel: mounts the data disk, then turns into the given command.
# Mounts are made in a mount namespace of this process alone, and a loop device made by mount frees itself, so that
# nothing is left whichever way the process ends.
set -eu
disk=$1 folder=$2 options=$3 answer=$4 scheduler=$5 read_ahead=$6
shift 6

# 71 tells our caller that the disk could not be mounted; standard error says why.
mount -t ext4 -o "$options" "$disk" "$folder" || exit 71
source=$(findmnt --noheadings --output SOURCE --mountpoint "$folder")
case $source in
    # A virtual machine's disk bypasses the host's page cache by default; so does this one where the filesystem
    # below allows it. The answer is read back by our caller.
    /dev/loop*) losetup --direct-io=on "$source" || true ;;
esac
queue=/sys/class/block/${source#/dev/}/queue
[ -z "$scheduler" ] || echo "$scheduler" > "$queue/scheduler" || exit 71
[ -z "$read_ahead" ] || echo "$read_ahead" > "$queue/read_ahead_kb" || exit 71
echo "$source" > "$answer"
exec "$@"
