# S4, F9, S1, S2: an error of the disk is an error of the disk. An intact keychain is never reported as damaged because a read fails, an
# exhausted quota counts as a full disk, and each message names the file that the disk refuses.
# users: root
# seconds: 60
. "${0%/*}/lib.sh"
create_keychain 2> /dev/null; mount_keychain; mkdir "$MNT/generic-passwords/s"
for i in {1..60}; do head -c 4000 /dev/zero > "$MNT/generic-passwords/s/$i"; done
# More rows than the keys of the first unlock have pages.
for i in {1..300}; do printf small > "$MNT/generic-passwords/s/small $i"; done
"$KEYCHAINFS" backup "$CASE_DIR/good" > /dev/null; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/whole"; NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); cp "$NUMBER" "$CASE_DIR/number"
store=$(dirname "$KEYCHAIN"); TRACE="$CASE_DIR/trace"; SAID="$CASE_DIR/said"; faults=0

# failing CALL ERROR WHEN FILE COMMAND...: sets `code`, and writes what the command says to $SAID. False if the call was not made.
failing() {
    local call=$1 error=$2 when=$3 file=$4; shift 4
    rm -f "$store"/login.keychain* "$CASE_DIR/new"; cp "$CASE_DIR/whole" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; code=0
    strace -f -o "$TRACE" -P "$file" -e "trace=$call" -e "inject=$call:error=$error:when=$when" "$KEYCHAINFS" "$@" > "$SAID" 2>&1 || code=$?
    grep -q INJECTED "$TRACE" || return 1
    faults=$((faults + 1))
}

# Reads of the keychain, once and from then on: exit code 1 and the reason.
for when in 3 5 9 40 3+ 60+; do
    for command in check "backup $CASE_DIR/new" "check --compact"; do
        failing pread64 EIO $when "$KEYCHAIN" $command || continue
        expect 1 $code "$command, EIO at read $when: $(cat "$SAID")"
        grep -q "$KEYCHAIN cannot be read or written: .*does not mean damage" "$SAID" || fail "$command: $(cat "$SAID")"
        cmp "$KEYCHAIN" "$CASE_DIR/whole" || fail "$command has changed the keychain"
    done
done
for when in 1 2 1+; do
    failing pread64 EIO $when "$CASE_DIR/good" restore --replace "$CASE_DIR/good"
    expect 1 $code "restore, EIO at read $when: $(cat "$SAID")"
    grep -q "$CASE_DIR/good cannot be read" "$SAID" || fail "restore: $(cat "$SAID")"
done
failing read EIO 5 "$CASE_DIR/good" restore --replace "$CASE_DIR/good"
expect 1 $code "restore: $(cat "$SAID")"; grep -q "$CASE_DIR/good cannot be read" "$SAID" || fail "restore: $(cat "$SAID")"
# fstat(3) is one or the other system call in each version of the C library.
for call in openat newfstatat,fstat; do
    for when in {1..45}; do
        failing $call EIO $when "$KEYCHAIN" check || break
        case $code in
        0) ;;
        1) grep -q "cannot be read or written" "$SAID" || fail "$call: $(cat "$SAID")" ;;
        *) fail "$call $when: $code" ;;
        esac
    done
done
# The file of this device: neither missing nor forged.
for call in openat read; do
    failing $call EIO 2+ "$NUMBER" check
    expect 1 $code "$call of the device file: $(cat "$SAID")"
    grep -q "commit-number.*cannot be read: Input/output error" "$SAID" || fail "$(cat "$SAID")"
done
[ $faults -ge 40 ] || fail "only $faults faults"

# refused CALL ERROR COMMAND...: a command on a disk without space ends with 19. `prepare` has made the files.
refused() {
    local call=$1 error=$2; shift 2; code=0
    strace -f -o "$TRACE" -e "trace=$call" -e "inject=$call:error=$error:when=1+" "$KEYCHAINFS" "$@" > "$SAID" 2>&1 || code=$?
    grep -q INJECTED "$TRACE" || fail "$*: no $call"
    expect 19 $code "$call, $error: $*: $(cat "$SAID")"
}
prepare() { rm -f "$store"/login.keychain* "$CASE_DIR/new" "$CASE_DIR/key"; cp "$1" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; }

# A message names the file for which there is no space: a backup its own, a repair and a restore the keychain, which is as it was.
cp "$CASE_DIR/whole" "$CASE_DIR/damaged"; python3 -I - "$CASE_DIR/damaged" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE item SET metadata = zeroblob(64) WHERE id = (SELECT max(id) FROM item)")
db.commit()
db.close()
PY
for error in ENOSPC EDQUOT; do
    for call in pwrite64 fdatasync fsync renameat2; do
        prepare "$CASE_DIR/whole"; refused $call $error backup "$CASE_DIR/new"
        grep -q "There is no space for $CASE_DIR/new" "$SAID" || fail "backup, $call: $(cat "$SAID")"
        [ ! -e "$CASE_DIR/new" ] || fail "a backup that failed has left its file"
    done
    for call in pwrite64 fdatasync fsync rename; do
        prepare "$CASE_DIR/damaged"; refused $call $error check --repair --yes
        ! grep -q "no file was left" "$SAID" || fail "repair, $call: $(cat "$SAID")"
        # All but SQLite's header, in which a repair may have changed the journal mode.
        cmp -i 100 "$KEYCHAIN" "$CASE_DIR/damaged" || fail "repair, $call: the keychain was changed"
    done
    for call in pwrite64 fdatasync fsync; do
        prepare "$CASE_DIR/whole"; refused $call $error restore --replace "$CASE_DIR/good"
        ! grep -q "no file was left" "$SAID" || fail "restore, $call: $(cat "$SAID")"
    done
    for call in pwrite64 fdatasync; do
        prepare "$CASE_DIR/whole"; refused $call $error slot add --kind keyfile --key-file "$CASE_DIR/key"
    done
    # The keychain is changed, but this device cannot record it.
    prepare "$CASE_DIR/whole"; "$KEYCHAINFS" slot add --kind keyfile --key-file "$CASE_DIR/key" > /dev/null 2>&1
    refused rename $error slot remove 2
    grep -q "Slot 2 is removed, but this device could not record it" "$SAID" || fail "slot remove: $(cat "$SAID")"
done

# A mounted keychain: no error of the disk is damage, and each ends with its cause.
prepare "$CASE_DIR/whole"; mount_keychain; daemon=$(status pid); item="$MNT/generic-passwords/s/new"
attach() {
    strace -f -o "$TRACE" -p "$daemon" -P "$KEYCHAIN" -P "$KEYCHAIN-wal" -e "trace=$1" -e "inject=$1:error=$2:when=1+" \
        2> /dev/null & tracer=$!
    wait_until 10 is_traced
}
is_traced() { ! grep -qx "TracerPid:.0" /proc/"$daemon"/task/*/status 2> /dev/null; }
detach() { kill "$tracer"; wait "$tracer" || true; }
printf x > "$CASE_DIR/x"
attach pwrite64 EDQUOT; expect_errno ENOSPC cp "$CASE_DIR/x" "$item"; detach
printf x > "$item"; expect x "$(cat "$item")" "after the quota was raised"; rm "$item"
unmount_keychain

# The first reads of a mount: of the keys, which prevents it, and of the rows that are verified then, which does not matter.
is_verified() { "$KEYCHAINFS" status --json "$MNT" | grep -q '"integrity" *: *"verified"'; }
prevented=0; verified=0
for when in {2..20..2}; do
    prepare "$CASE_DIR/whole"; code=0
    strace -D -f -o "$TRACE" -P "$KEYCHAIN" -e trace=pread64 -e "inject=pread64:error=EIO:when=$when" "$KEYCHAINFS" mount "$MNT" \
        > "$SAID" 2>&1 || code=$?
    case $code in
    0)
        wait_until 20 is_verified; cp "$CASE_DIR/x" "$item"; expect x "$(cat "$item")" "EIO at read $when"; unmount_keychain
        ! grep -q INJECTED "$TRACE" || verified=$((verified + 1)) ;;
    1) grep -q "$KEYCHAIN cannot be read" "$SAID" || fail "mount: $(cat "$SAID")"; prevented=$((prevented + 1)) ;;
    *) fail "mount, EIO at read $when: $code, $(cat "$SAID")" ;;
    esac
done
[ $prevented -ge 2 ] && [ $verified -ge 2 ] || fail "mounts: $prevented prevented, $verified verified"
# An unlock that reads the keys.
prepare "$CASE_DIR/whole"; mount_keychain --locked; daemon=$(status pid); attach pread64 EIO
code=0; "$KEYCHAINFS" unlock "$MNT" > "$SAID" 2>&1 || code=$?
detach; grep -q INJECTED "$TRACE" || fail "the unlock has read nothing"
expect 1 $code "unlock: $(cat "$SAID")"; grep -q "reports an error (Input/output error)" "$SAID" || fail "unlock: $(cat "$SAID")"
"$KEYCHAINFS" unlock "$MNT" > /dev/null 2>&1; wait_until 20 is_verified
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
