# L5, L2, F3: a keychain is in use during a rekey: no process notices it; a lock stops the rekey, an unlock continues
# it.
# seconds: 44
. "${0%/*}/lib.sh"
rekey_field() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['rekey'].get('$1'))"; }
is_rekey() { [ "$(rekey_field state)" = "$1" ]; }
is_waiting_for() { [ "$(rekey_field state) $(rekey_field reason)" = "waiting $1" ]; }
# A command that does not wait for the end; Python writes the data in one call.
start_rekey() { python3 -I -c 'import sys; open(sys.argv[1] + "/.keychainfs/control", "wb", 0).write(b"rekey\n" + bytes([1, 13, 0, 0, 0]) + open(sys.argv[2], "rb").read().rstrip(b"\n"))' "$MNT" "$PASSPHRASE"; }

create_keychain
expect_code 17 "$KEYCHAINFS" rekey "$MNT" > /dev/null
mount_keychain
expect none "$(rekey_field state)" "the state of no rekey"
D="$MNT/generic-passwords/s"; mkdir "$D"
# Each of these values fills a transaction, which takes long enough for other requests to come in between.
python3 - "$D" <<'PY'
import sys
for n in range(150):
    with open(f"{sys.argv[1]}/big{n}", "wb") as f: f.write(b"%03d" % n * 90000)
for n in range(200):
    with open(f"{sys.argv[1]}/n{n}", "w") as f: f.write(f"value {n}")
PY
printf 'for ever' > "$D/open"; setfattr -n user.kSecAttrComment -v kept "$D/open"
printf always > "$D/always"; setfattr -n user.kSecAttrAccessible -v Always "$D/always"
printf staged > "$D/staged"

# Refused: nothing is started.
printf wrong > "$CASE_DIR/wrong"; chmod 600 "$CASE_DIR/wrong"
expect_code 10 "$KEYCHAINFS" rekey --passphrase-file "$CASE_DIR/wrong" "$MNT" > /dev/null
"$KEYCHAINFS" lock "$MNT"
expect_code 23 "$KEYCHAINFS" rekey "$MNT" > /dev/null
expect_errno ENOKEY start_rekey
"$KEYCHAINFS" unlock "$MNT"
expect none "$(rekey_field state)" "the state after refusals"

# In use: readers, writers, new names, renames and removals while it runs; open files stay unchanged.
exec 5< "$D/open" 6< "$D/always" 7>> "$D/staged"
printf ' more' >&7
before=$(stat -c '%i %s %Y %Z %a' "$D/open")
start_rekey
expect_errno EBUSY start_rekey
wait_until 60 is_rekey finished
python3 - "$D" "$PASSPHRASE" <<'PY'
import json, os, sys, threading
d, wrong, running = sys.argv[1], [], [0, 0]
control, secret = d + "/../../.keychainfs/control", open(sys.argv[2], "rb").read().rstrip(b"\n")
def state(): return json.load(open(d + "/../../.keychainfs/status"))["rekey"]["state"]
def reader(start):
    i = start
    while state() == "running":
        i, n = i + 1, (start + 7 * i) % 150
        if open(f"{d}/big{n}", "rb").read() != b"%03d" % n * 90000: wrong.append(n)
        if len(os.listdir(d)) < 353: wrong.append("listing")
        running[0] += 1
def writer():
    while state() == "running":
        n = 2 * running[1] % 200
        name, other = (f"n{n + 1}", f"renamed{n + 1}") if os.path.exists(f"{d}/n{n + 1}") else (f"renamed{n + 1}", f"n{n + 1}")
        with open(f"{d}/n{n}", "w") as f: f.write(f"new {n}")
        os.setxattr(f"{d}/{name}", "user.kSecAttrLabel", b"label")
        os.rename(f"{d}/{name}", f"{d}/{other}")
        running[1] += 1
rounds = 0
while rounds < 20 and (running[0] < 20 or running[1] < 20):
    rounds += 1
    with open(control, "wb", 0) as f: f.write(b"rekey\n" + bytes([1, len(secret), 0, 0, 0]) + secret)
    threads = [threading.Thread(target=reader, args=(s,)) for s in range(2)] + [threading.Thread(target=writer)]
    for t in threads: t.start()
    for t in threads: t.join()
assert not wrong, wrong
print(f"{running[0]} readings and {running[1]} changes during {rounds} rekeys")
assert running[0] >= 20 and running[1] >= 20, running
PY
expect_code 0 "$KEYCHAINFS" rekey "$MNT" > "$CASE_DIR/said"
expect finished "$(rekey_field state)" "the state at the end"
python3 - "$D" <<'PY'
import os, sys
d = sys.argv[1]
for n in range(150): assert open(f"{d}/big{n}", "rb").read() == b"%03d" % n * 90000, n
for n in range(0, 200, 2):
    odd = f"n{n + 1}" if os.path.exists(f"{d}/n{n + 1}") else f"renamed{n + 1}"
    assert open(f"{d}/n{n}").read() in (f"new {n}", f"value {n}") and open(f"{d}/{odd}").read() == f"value {n + 1}", n
assert sum(open(f"{d}/n{n}").read() == f"new {n}" for n in range(0, 200, 2)) >= 20
PY
expect "$before" "$(stat -c '%i %s %Y %Z %a' "$D/open")" "what stat shows"
expect kept "$(attribute kSecAttrComment "$D/open")" "the comment"
expect 'for ever' "$(cat <&5)" "a descriptor that was open before"
exec 7>&-
expect 'staged more' "$(cat "$D/staged")" "what was staged before"
# L2: after a lock it fails like all others of its class.
exec 5<&-; exec 5< "$D/open"
"$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1
"$KEYCHAINFS" lock "$MNT"
expect_errno ENOKEY cat /dev/fd/5
expect always "$(cat <&6)" "an Always descriptor that was open before"
exec 5<&- 6<&-
"$KEYCHAINFS" unlock "$MNT"

# A lock stops it, and a process that follows the rekey is informed; the unlock continues it.
start_rekey; "$KEYCHAINFS" lock "$MNT"
is_waiting_for unlock || fail "after the lock it is $(rekey_field state)"
"$KEYCHAINFS" status "$MNT" | grep -q '^rekey: *waiting (unlock)' || fail "status does not tell of it"
expect_code 23 "$KEYCHAINFS" rekey "$MNT" | grep -q 'continues after' || fail "it does not report that it continues"
done_before=$(rekey_field done); sleep 0.5
expect "$done_before" "$(rekey_field done)" "items while locked"
"$KEYCHAINFS" unlock "$MNT"
wait_until 60 is_rekey finished
# So do an unmount and a read-only mount, and a mount continues it.
start_rekey; unmount_keychain
mount_keychain -o ro
is_waiting_for read-only || fail "the rekey was over before the unmount: it is $(rekey_field state)"
expect "150" "$(ls "$D" | grep -c ^big)" "items of a half rekey"
expect_code 22 "$KEYCHAINFS" rekey "$MNT" > /dev/null
unmount_keychain
mount_keychain
wait_until 60 is_rekey finished

# ^C ends the display, not the work.
"$KEYCHAINFS" rekey "$MNT" > /dev/null 2> "$CASE_DIR/said" & follower=$!
wait_until 20 is_rekey running
kill -INT "$follower" 2> /dev/null || true; code=0; wait "$follower" || code=$?
expect 130 "$code" "exit code after ^C"
grep -q 'continues in the background' "$CASE_DIR/said" || fail "^C does not report that it continues: $(cat "$CASE_DIR/said")"
wait_until 60 is_rekey finished
expect_code 0 "$KEYCHAINFS" check > /dev/null
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null

# Damage is not hidden: an item that does not open remains and is reported, and its class keeps its old keys.
python3 -I - "$KEYCHAIN" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
row = db.execute("SELECT id, metadata FROM item WHERE protection = 6 ORDER BY id DESC").fetchone()
db.execute("UPDATE item SET metadata = ? WHERE id = ?", (bytes([row[1][0] ^ 1]) + row[1][1:], row[0])); db.commit()
PY
mount_keychain
# It asks first, because the row may be forged.
expect_code 21 "$KEYCHAINFS" rekey "$MNT" < /dev/null 2>&1 | grep -q 'Nothing was changed' || fail "it does not refuse"
expect none "$(rekey_field state)" "the state after a refusal"
code=0; "$KEYCHAINFS" rekey --yes "$MNT" > "$CASE_DIR/report" 2> "$CASE_DIR/said" < /dev/null || code=$?; expect 21 "$code" "with a damaged item"
grep -q '1 item is damaged' "$CASE_DIR/said" || fail "it does not tell of the damaged item"
grep -q 'sealed under new keys' "$CASE_DIR/report" || fail "no report on standard output: $(cat "$CASE_DIR/report")"
expect 1 "$(rekey_field left)" "items that are left"
expect_code 21 "$KEYCHAINFS" check > /dev/null
unmount_keychain
generations=$(python3 -I -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT group_concat(n) FROM (SELECT count(DISTINCT generation) n FROM class_key WHERE purpose <> 32 GROUP BY purpose ORDER BY purpose)").fetchone()[0])' "$KEYCHAIN")
expect 1,2,1,1,1,1,1,1 "$generations" "generations of each class"
