# S1, S8: backup, backup --verify and restore, of a mounted keychain and of an unmounted one.
# users: both
# seconds: 18
. "${0%/*}/lib.sh"
B="$CASE_DIR/backups"; mkdir "$B"
create_keychain; mount_keychain
(umask 077; echo wrong > "$CASE_DIR/wrong")
D="$MNT/generic-passwords/s"; mkdir "$D"
printf CANARYONE > "$D/one"; printf two > "$D/two"
printf gone > "$D/gone"; printf stays > "$D/stays"
setfattr -n user.kSecAttrAccessible -v WhenPasscodeSetThisDeviceOnly "$D/stays"
setfattr -n user.kSecAttrAccessible -v WhenUnlockedThisDeviceOnly "$D/two"
rm "$D/gone"
json() { python3 -I -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }

# Of a mounted keychain: without a passphrase, also while it is locked.
expect 1 "$("$KEYCHAINFS" backup --json --passphrase-file /dev/null "$B/1" | json leftOut)" "items left out"
"$KEYCHAINFS" lock "$MNT"
expect 2 "$("$KEYCHAINFS" backup --json --passphrase-file /dev/null "$B/2" | json items)" "items in a backup while locked"
"$KEYCHAINFS" unlock "$MNT"
for file in "$B"/*; do
    expect 600 "$(stat -c %a "$file")" "mode of $file"
    case "$file" in *-wal|*-shm|*-journal) fail "$file lies beside a backup" ;; esac
    ! grep -aiq canary "$file" || fail "$file holds a name or a secret"
done
expect "" "$(ls -A "$B" | grep '^\.' || true)" "what a backup leaves beside it"
expect "" "$(ls -A "${KEYCHAIN%/*}" | grep keychainfs-backup || true)" "what a backup leaves beside the keychain"

# WhenPasscodeSetThisDeviceOnly: a backup contains neither its rows nor its keys, nor deleted data.
python3 - "$KEYCHAIN" "$B/1" <<'PY'
import sqlite3, sys
db = sqlite3.connect("file:%s?mode=ro&immutable=1" % sys.argv[2], uri=True)
rows = lambda sql: db.execute(sql).fetchall()
assert rows("SELECT count(*) FROM item WHERE protection = 12") == [(0,)], "an item"
assert rows("SELECT count(*) FROM class_key WHERE purpose = 12") == [(0,)], "a class key"
assert rows("SELECT count(*) FROM item") == [(2,)], "the others"
assert rows("PRAGMA integrity_check") == [("ok",)]
PY
"$KEYCHAINFS" backup --verify "$B/1" | grep -q 'is intact' || fail "verify"
expect_code 10 "$KEYCHAINFS" backup --verify --passphrase-file "$CASE_DIR/wrong" "$B/1" > /dev/null
expect True "$("$KEYCHAINFS" backup --verify --json "$B/1" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['items'] == 2)")" "verify --json"

# Nothing is overwritten, and an impossible destination is refused.
before=$(sha256sum "$B/1")
expect_code 20 "$KEYCHAINFS" backup "$B/1" > /dev/null; expect "$before" "$(sha256sum "$B/1")" "what was there"
expect_code 20 "$KEYCHAINFS" backup "$B" > /dev/null
expect_code 20 "$KEYCHAINFS" backup "$KEYCHAIN" > /dev/null
ln "$KEYCHAIN" "$CASE_DIR/hard"; expect_code 20 "$KEYCHAINFS" backup "$CASE_DIR/hard" > /dev/null; rm "$CASE_DIR/hard"
ln -s "$KEYCHAIN" "$B/soft"; expect_code 20 "$KEYCHAINFS" backup "$B/soft" > /dev/null
ln -s "$CASE_DIR/nowhere" "$B/dangling"; expect_code 20 "$KEYCHAINFS" backup "$B/dangling" > /dev/null
[ ! -e "$CASE_DIR/nowhere" ] || fail "a backup was written through a dangling link"
expect_code 64 timeout 20 "$KEYCHAINFS" backup "$D/backup" > /dev/null
expect_code 64 timeout 20 "$KEYCHAINFS" backup "$MNT/backup" > /dev/null
expect_code 1 "$KEYCHAINFS" backup "$CASE_DIR/missing/backup" > /dev/null
[ ! -e "$CASE_DIR/missing" ] || fail "a backup made a directory"
expect_code 64 "$KEYCHAINFS" backup '' > /dev/null
if [ "$(id -u)" != 0 ]; then
    mkdir -m 500 "$CASE_DIR/closed"; expect_code 1 "$KEYCHAINFS" backup "$CASE_DIR/closed/backup" > /dev/null
    cp "$B/1" "$B/unreadable"; chmod 0 "$B/unreadable"; expect_code 1 "$KEYCHAINFS" backup --verify "$B/unreadable" > /dev/null
fi
expect_code 11 "$KEYCHAINFS" backup --verify "$B/none" > /dev/null
expect_code 12 "$KEYCHAINFS" backup --verify "$PASSPHRASE" > /dev/null
expect_code 12 "$KEYCHAINFS" backup --verify "$B" > /dev/null

# Several at the same time, while the mount is in use: each is complete or reports that another one is in progress; one
# name, one winner.
( while [ ! -e "$CASE_DIR/enough" ]; do printf %s "$RANDOM" > "$D/busy"; done ) & writer=$!
for i in 1 2 3 4; do { "$KEYCHAINFS" backup "$B/many$i" && echo 0 || echo $?; } > "$CASE_DIR/code$i" 2>&1 & done
for i in 1 2 3 4; do { "$KEYCHAINFS" backup "$B/same" && echo 0 || echo $?; } > "$CASE_DIR/same$i" 2>&1 & done
for job in $(jobs -p); do [ "$job" = "$writer" ] || wait "$job" || true; done
touch "$CASE_DIR/enough"; wait "$writer"; rm "$CASE_DIR/enough"
for i in 1 2 3 4; do
    case "$(tail -n 1 "$CASE_DIR/code$i")" in
    0) "$KEYCHAINFS" backup --verify "$B/many$i" > /dev/null || fail "a backup made beside others" ;;
    14) [ ! -e "$B/many$i" ] || fail "a refused backup left something" ;;
    *) fail "a backup beside others: $(cat "$CASE_DIR/code$i")" ;;
    esac
done
for i in 1 2 3 4; do case "$(tail -n 1 "$CASE_DIR/same$i")" in 0|14|20) ;; *) fail "$(cat "$CASE_DIR/same$i")" ;; esac; done
[ "$(cat "$CASE_DIR"/same? | grep -cx 0)" -le 1 ] || fail "two backups of one name"
rm "$D/busy"; expect "" "$(ls -A "$B" | grep '^\.' || true)" "what backups leave beside them"

# A copy that no command fetches is deleted with the daemon, and so is an unfinished copy of a killed daemon.
left() { ls -A "${KEYCHAIN%/*}" | grep -c keychainfs-backup || true; }
ask() { exec 5<> "$MNT/.keychainfs/control"; echo backup >&5; cat <&5 > "$CASE_DIR/answer"; exec 5>&-; }
ask; expect 1 "$(left)" "a copy that waits"
file=$(json file < "$CASE_DIR/answer"); expect 600 "$(stat -c %a "$file")" "its mode"; expect "${KEYCHAIN%/*}" "${file%/*}" "its place"
"$KEYCHAINFS" backup "$B/beside" > /dev/null; expect 1 "$(left)" "it is not taken from who asked for it"
unmount_keychain; expect 0 "$(left)" "after the end"; mount_keychain
ask; kill -9 "$(daemon)"; wait_until 10 bash -c "! grep -q ' $MNT fuse.keychainfs ' /proc/self/mounts"
expect 1 "$(left)" "after a kill"; mount_keychain; expect 0 "$(left)" "after the next start"

# A mounted keychain is never replaced; an existing one only with --replace, and then the old file is renamed.
expect_code 14 "$KEYCHAINFS" restore --replace "$B/1" > /dev/null
printf newer > "$D/one"
# The keychain as a crash would leave it, and a backup with the keychain's log next to it.
for name in withlog otherlog; do cp "$KEYCHAIN" "$B/$name"; cp "$KEYCHAIN-wal" "$B/$name-wal"; done
cp "$B/1" "$B/otherlog"; unmount_keychain
expect_code 20 "$KEYCHAINFS" restore "$B/1" > /dev/null
expect_code 10 "$KEYCHAINFS" restore --replace --passphrase-file "$CASE_DIR/wrong" "$B/1" > /dev/null
expect_code 11 "$KEYCHAINFS" restore --replace "$B/none" > /dev/null
expect_code 12 "$KEYCHAINFS" restore --replace "$PASSPHRASE" > /dev/null
expect_code 64 "$KEYCHAINFS" restore --replace "$KEYCHAIN" > /dev/null
ln "$KEYCHAIN" "$CASE_DIR/hard"; expect_code 64 "$KEYCHAINFS" restore --replace "$CASE_DIR/hard" > /dev/null; rm "$CASE_DIR/hard"
head -c 20000 "$B/1" > "$B/cut"; expect_code 12 "$KEYCHAINFS" restore --replace "$B/cut" > /dev/null
for name in withlog otherlog; do expect_code 12 "$KEYCHAINFS" restore --replace "$B/$name" > /dev/null; rm "$B/$name-wal"; done
expect "" "$(ls -A "${KEYCHAIN%/*}" | grep -e replaced -e '^\.' || true)" "what a refused restoration leaves"
# Files that a killed restore left are removed by the next one; the files of a restore in progress stay.
touch "${KEYCHAIN%/*}/.keychainfs-new-dead" "${KEYCHAIN%/*}/.keychainfs-new-alive"
exec {alive}< "${KEYCHAIN%/*}/.keychainfs-new-alive"; flock -s "$alive"
"$KEYCHAINFS" restore --replace "$B/1" 2> "$CASE_DIR/said"; ! grep damaged "$CASE_DIR/said" || fail "a whole backup"
expect .keychainfs-new-alive "$(cd "${KEYCHAIN%/*}"; ls -d .keychainfs-new-*)" "unfinished restorations"
exec {alive}<&-; rm "${KEYCHAIN%/*}/.keychainfs-new-alive"
kept=$(ls "${KEYCHAIN%/*}"/*.replaced-*); grep -qF "$kept" "$CASE_DIR/said" || fail "restore does not say what it kept"
expect 600 "$(stat -c %a "$KEYCHAIN")" "mode of what was restored"
mount_keychain
expect CANARYONE "$(cat "$D/one")" "what was restored"; expect two "$(cat "$D/two")" "bound to this device"
expect "one two" "$(ls "$D" | xargs)" "all that was restored"
# The class remains usable, with new keys.
printf again > "$D/stays"; setfattr -n user.kSecAttrAccessible -v WhenPasscodeSetThisDeviceOnly "$D/stays"
expect again "$(cat "$D/stays")" "a new item of the class"
unmount_keychain; "$KEYCHAINFS" check | grep -q 'is intact' || fail "check of what was restored"
# S2: it is the same keychain, and the restore has made it an older copy. Accepting it makes the restored one older.
expect_code 24 "$KEYCHAINFS" mount --keychain "$kept" "$MNT" > /dev/null
mount_keychain --keychain "$kept" --accept-rollback; expect newer "$(cat "$D/one")" "what was kept"; unmount_keychain
expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null; mount_keychain --accept-rollback; unmount_keychain

# Of a keychain that is not mounted: with the passphrase.
rm "$B"/*
expect_code 10 "$KEYCHAINFS" backup --passphrase-file "$CASE_DIR/wrong" "$B/3" > /dev/null
[ ! -e "$B/3" ] || fail "a refused backup left something"
"$KEYCHAINFS" backup --keychain "$KEYCHAIN" "$B/3" > /dev/null
expect 3 "$(ls -A "$B")" "what lies there"; expect 600 "$(stat -c %a "$B/3")" "its mode"
"$KEYCHAINFS" backup --verify "$B/3" > /dev/null
# A damaged backup is reported.
python3 - "$B/3" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE item SET metadata = zeroblob(length(metadata))"); db.commit()
db.execute("PRAGMA wal_checkpoint(TRUNCATE)"); db.close()
PY
expect_code 21 "$KEYCHAINFS" backup --verify "$B/3" > /dev/null
XDG_STATE_HOME="$CASE_DIR/elsewhere" "$KEYCHAINFS" restore --keychain "$CASE_DIR/damaged" "$B/3" 2> "$CASE_DIR/said"
grep -q 'damaged' "$CASE_DIR/said" || fail "restore is silent about damage: $(cat "$CASE_DIR/said")"
# A damaged keychain is copied, and the damage is reported, mounted or not.
mkdir "$CASE_DIR/hurt"; "$KEYCHAINFS" backup "$CASE_DIR/hurt/k" > /dev/null
python3 - "$CASE_DIR/hurt/k" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.execute("DELETE FROM item WHERE id = (SELECT max(id) FROM item)"); db.commit()
PY
mount_keychain --keychain "$CASE_DIR/hurt/k" --accept-rollback
expect_code 21 "$KEYCHAINFS" backup --keychain "$CASE_DIR/hurt/k" "$CASE_DIR/hurt/2" > /dev/null
unmount_keychain; expect_code 21 "$KEYCHAINFS" backup --keychain "$CASE_DIR/hurt/k" "$CASE_DIR/hurt/1" > /dev/null
[ -s "$CASE_DIR/hurt/1" ] && [ -s "$CASE_DIR/hurt/2" ] || fail "no copy of a damaged keychain"
rm -r "$CASE_DIR/hurt"; mount_keychain --accept-rollback; unmount_keychain
# To a new path, on a device that never had it, whose directories are created.
"$KEYCHAINFS" backup "$B/4" > /dev/null
XDG_STATE_HOME="$CASE_DIR/elsewhere" "$KEYCHAINFS" restore --keychain "$CASE_DIR/deep/er/k" "$B/4" 2> /dev/null
mount_keychain --keychain "$CASE_DIR/deep/er/k" --accept-rollback; expect CANARYONE "$(cat "$D/one")" "another place"

# On a read-only file system a daemon cannot create its copy: the message states the remedy.
if [ "$(id -u)" = 0 ]; then
    unmount_keychain
    MEDIUM="$CASE_DIR/medium"; mkdir "$MEDIUM"; mount -t tmpfs keychainfs-case "$MEDIUM"
    trap 'code=$?; umount -l "$MEDIUM" || true; cleanup $code' EXIT
    cp "$B/4" "$MEDIUM/k"; mount -o remount,ro "$MEDIUM"
    mount_keychain --keychain "$MEDIUM/k" -o ro --accept-rollback
    expect_code 22 "$KEYCHAINFS" backup --keychain "$MEDIUM/k" "$B/medium" > "$CASE_DIR/said"
    grep -q "unmount" "$CASE_DIR/said" || fail "no advice: $(cat "$CASE_DIR/said")"
    [ ! -e "$B/medium" ] || fail "a refused backup has left something"
    unmount_keychain
    expect_code 24 "$KEYCHAINFS" backup --keychain "$MEDIUM/k" "$B/medium" | grep -q 'backup --verify' || fail "no advice"
fi
