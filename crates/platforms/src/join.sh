# Joins control groups, whose folders come one a line, and turns into the given command.
set -euf
groups=$1
shift

IFS='
'
for group in $groups; do
    echo $$ > "$group/cgroup.procs"
done
exec "$@"
