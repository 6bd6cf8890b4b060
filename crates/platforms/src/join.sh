# Joins control groups, whose folders come one a line, and turns into the given command.
set -euf
files=$1 groups=$2
shift 2

# Only root may raise its own limit.
ulimit -n "$files" 2> /dev/null || true

IFS='
'
for group in $groups; do
    echo $$ > "$group/cgroup.procs"
done
exec "$@"
