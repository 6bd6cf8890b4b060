# Writes the bundle, and keeps a runtime away from control groups of version 1: it sees them, but can make none, so the machine stays
# in those that it joined. In version 2 the bundle names a group below that of the machine. Then turns into the given command.
# The first word is "hide" for a runtime that refuses a host with both versions of control groups: it will see version 1 only.
set -eu
second=$1 file=$2 config=$3
shift 3

printf '%s\n' "$config" > "$file"

trees() {
    findmnt --noheadings --list --types "$1" --output TARGET || true
}
IFS='
'
if [ -n "$(trees cgroup)" ]; then
    for tree in $(trees cgroup,cgroup2); do
        mount -o remount,bind,ro,nosuid,nodev,noexec "$tree"
    done
    if [ "$second" = hide ]; then
        for tree in $(trees cgroup2); do
            mount -t tmpfs -o ro tmpfs "$tree"
        done
    fi
fi
exec "$@"
