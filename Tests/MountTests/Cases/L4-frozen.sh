# L4, F1: a daemon that is stopped, or frozen as in a suspend (cgroup freezer), and continues: callers that wait can be
# killed, waiting requests are executed, nothing is lost.
# users: root
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; for i in 1 2 3 4 5 6; do printf "$i" > "$D/a$i"; done
pid=$(daemon)
group=
for tree in /sys/fs/cgroup/freezer /sys/fs/cgroup; do
    [ -z "$group" ] && [ "$(id -u)" = 0 ] && mkdir "$tree/keychainfs-$$" 2> /dev/null || continue
    if [ -e "$tree/keychainfs-$$/freezer.state" ] || [ -e "$tree/keychainfs-$$/cgroup.freeze" ]; then
        group="$tree/keychainfs-$$"; home=$tree
    else
        rmdir "$tree/keychainfs-$$"
    fi
done
freeze() {
    case $1 in
    stop) if [ "$2" = on ]; then kill -STOP "$pid"; else kill -CONT "$pid"; fi ;;
    freezer) if [ -e "$group/freezer.state" ]; then
            if [ "$2" = on ]; then echo FROZEN; else echo THAWED; fi > "$group/freezer.state"
        else
            if [ "$2" = on ]; then echo 1; else echo 0; fi > "$group/cgroup.freeze"
        fi ;;
    esac
}
leave_group() {
    [ -n "$group" ] || return 0
    freezer_off=1; freeze freezer off || true
    echo "$pid" > "$home/cgroup.procs" 2> /dev/null || true
    wait_until 10 rmdir "$group"
}
trap 'code=$?; kill -CONT "$pid" 2> /dev/null || true; leave_group; cleanup $code' EXIT
ways=(stop); if [ -n "$group" ]; then echo "$pid" > "$group/cgroup.procs"; ways+=(freezer); fi
for way in "${ways[@]}"; do
    freeze "$way" on; sleep 0.3
    # Killed during each kind of call.
    killed=()
    cat "$D/a1" > /dev/null 2>&1 & killed+=($!)
    bash -c "printf never > '$D/never'" 2> /dev/null & killed+=($!)
    ls -l "$D" > /dev/null 2>&1 & killed+=($!)
    setfattr -n user.x -v y "$D/a2" 2> /dev/null & killed+=($!)
    mv "$D/a3" "$D/b3" 2> /dev/null & killed+=($!)
    # Wait for it.
    cat "$D/a4" > "$CASE_DIR/read" & reader=$!
    bash -c "printf $way > '$D/a5'" & writer=$!
    sleep 1; signal=TERM
    for client in "${killed[@]}"; do kill -$signal "$client"; signal=$([ $signal = TERM ] && echo KILL || echo TERM); done
    gone() { [ ! -e "/proc/$1" ] || grep -qs '^State:.*Z' "/proc/$1/status"; }
    for client in "${killed[@]}"; do wait_until 60 gone "$client"; done
    ! gone "$reader" || fail "$way: it was answered"
    freeze "$way" off
    wait "$reader" || fail "$way: the reader"; wait "$writer" || fail "$way: the writer"
    expect 4 "$(cat "$CASE_DIR/read")" "$way: what was read"
    expect "$way" "$(cat "$D/a5")" "$way: what was written"
    # The old or the new value, complete.
    name=$([ -e "$D/a3" ] && echo a3 || echo b3); expect 3 "$(cat "$D/$name")" "$way: a rename that was killed"
    mv "$D/$name" "$D/a3" 2> /dev/null || true
    expect unlocked "$(status state)" "$way: afterwards"
done
leave_group; group=
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
