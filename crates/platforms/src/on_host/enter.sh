# Becomes a machine on the host's kernel: mounts the data disk, then turns into the given command.
# Mounts are made in a mount namespace of this process alone, and a loop device made by mount frees itself, so that
# nothing is left whichever way the process ends.
set -eu
disk=$1 folder=$2 options=$3 answer=$4 scheduler=$5 read_ahead=$6
shift 6

# A disk with blocks of 4 KiB allows direct I/O only to a loop device with as large ones. Detaching a mounted loop device makes
# it free itself at the end.
as_large_blocks() {
    below=$(findmnt --noheadings --nofsroot --output SOURCE --target "$disk") || return 0
    block=$(lsblk --nodeps --noheadings --output LOG-SEC "$below" 2> /dev/null | tr -d ' ')
    [ "${block:-512}" -gt 512 ] || return 0
    umount "$folder"
    source=$(losetup --find --show --sector-size "$block" --direct-io=on "$disk") || {
        mount -t ext4 -o "$options" "$disk" "$folder" || exit 71
        source=$(findmnt --noheadings --output SOURCE --mountpoint "$folder")
        return 0
    }
    mount -t ext4 -o "${options#loop,}" "$source" "$folder" || { losetup --detach "$source"; exit 71; }
    losetup --detach "$source"
}

# 71 means that the disk could not be mounted; standard error says why.
mount -t ext4 -o "$options" "$disk" "$folder" || exit 71
source=$(findmnt --noheadings --output SOURCE --mountpoint "$folder")
case $source in
    # A virtual machine's disk bypasses the host's page cache by default; so does this one where the filesystem
    # below allows it. The answer is read back by our caller.
    /dev/loop*) losetup --direct-io=on "$source" 2> /dev/null || as_large_blocks ;;
esac
queue=/sys/class/block/${source#/dev/}/queue
[ -z "$scheduler" ] || echo "$scheduler" > "$queue/scheduler" || exit 71
[ -z "$read_ahead" ] || echo "$read_ahead" > "$queue/read_ahead_kb" || exit 71
echo "$source" > "$answer"
exec "$@"
