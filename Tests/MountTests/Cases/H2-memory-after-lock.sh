# H2, H1, L2: after each kind of use and a lock, no canary is in the daemon's memory (with CORES=1: nor in its core as
# gcore writes it): files, xattrs, editors, rpc, the client libraries, search, check, show, slots, backup, restore,
# rekey. Before the lock secrets and passphrases are in memory only during a request; KeyScanTests shows that keys are
# only in locked memory.
# users: root
# needs: SecItemProgram
# seconds: 37
. "${0%/*}/lib.sh"
HERE=${0%/*}
TOKEN=$(python3 -I -c "import secrets; print('Canary' + secrets.token_hex(8) + '-')")
private() { install -m 600 /dev/null "$1"; printf '%s' "$2" > "$1"; }
private "$PASSPHRASE" "${TOKEN}passphrase-first"
create_keychain; mount_keychain; pid=$(daemon)
D="$MNT/generic-passwords/svc"; mkdir "$D"
c() { printf '%s%s-%s' "$TOKEN" "$kind" "$1"; }
found() { printf 'prefix:\t%s\n' "$TOKEN" | python3 -I "$HERE/scan.py" "$@" "$pid"; }
# core WHEN: no canary in a core, with and without the memory that is excluded from cores (MADV_DONTDUMP).
core() {    # Without descriptors of the mount: closing one waits for the daemon, which is stopped.
    gdb -q -nx -batch -p "$pid" -ex "set dump-excluded-mappings $1" -ex "gcore $CASE_DIR/core" > "$CASE_DIR/gdb" 2>&1 7>&- 8<&- || fail "gcore: $(tail -3 "$CASE_DIR/gdb")"
    [ "$(stat -c %s "$CASE_DIR/core")" -gt 1000000 ] || fail "a core of $(stat -c %s "$CASE_DIR/core") bytes"
    grep -aoE "$TOKEN[A-Za-z0-9-]{1,60}" "$CASE_DIR/core" | sort -u || true
    rm "$CASE_DIR/core"
}
use_files() {
    printf '%s' "$(c content)" > "$D/$(c name)"; cat "$D/$(c name)" > /dev/null; cp "$D/$(c name)" "$D/$(c copy)"
    mv "$D/$(c copy)" "$D/$(c moved)"; printf '%s' "$(c content)" >> "$D/$(c name)"; head -c 5000 /dev/zero | tr '\0' x >> "$D/$(c name)"
    for _ in 1 2 3; do c content; done > "$D/$(c gone)"; rm "$D/$(c gone)"; ls -lR "$MNT" > /dev/null; find "$MNT" -name "$(c name)" > /dev/null
}
use_xattrs() {
    printf x > "$D/$(c name)"
    for attribute in kSecAttrLabel kSecAttrComment kSecAttrGeneric "$(c other)"; do setfattr -n "user.$attribute" -v "$(c value)" "$D/$(c name)"; done
    getfattr -d -m- "$D/$(c name)" > /dev/null 2>&1; setfattr -x "user.$(c other)" "$D/$(c name)"
    setfattr -n user.kSecAttrAccount -v "$(c renamed)" "$D/$(c name)"; cp -a "$D/$(c renamed)" "$D/$(c copied)"
}
use_editors() {
    c content > "$D/$(c name)"; sed -i 's/content/content/' "$D/$(c name)"; perl -i.orig -pe 's/content/content/' "$D/$(c name)"
    printf 'A-%s\n' "$(c typed)" > "$CASE_DIR/keys"
    ex -u NONE -s -c "normal o$(c typed)" -c wq "$D/$(c name)" < /dev/null > /dev/null 2>&1; grep -q typed "$D/$(c name)" || fail "vim has not saved"
    printf 'a\n%s\n.\nw\nq\n' "$(c typed)" | ed -s "$D/$(c name)" > /dev/null
}
use_rpc() {
    python3 -I - "$MNT" "$CASE_DIR" "$(c '')" <<'PY'
import sys
mount, base, token = sys.argv[1:]; sys.path.insert(0, base); import rpc
api = rpc.Client(mount)
assert api.add((token + "content").encode() * 40, svce="svc", acct=token + "name", labl=token + "label") == 0
assert api.value(labl=token + "label") == (token + "content").encode() * 40
assert api.value(svce="svc", desc=token + "queried") == rpc.NOT_FOUND
assert api.update({"acct": token + "name"}, {"acct": token + "renamed", "labl": token + "updated"}, (token + "content").encode()) == 0
assert len(api.all(svce="svc", r_Attributes=True)[1]) >= 1
assert api.delete(acct=token + "renamed") == 0
PY
}
use_library() {
    export KEYCHAINFS_MOUNT="$MNT"; local S="$HERE/SecItemProgram"
    expect 0 "$("$S" add class=genp svce=svc "acct=$(c name)" "labl=$(c label)" "v_Data=$(c content)")" SecItemAdd
    "$S" find class=genp svce=svc "acct=$(c name)" | grep -q "$(c content)" || fail "SecItemCopyMatching"
    expect 0 "$("$S" update class=genp "acct=$(c name)" -- "v_Data=$(c newcontent)" "icmt=$(c comment)")" SecItemUpdate
    expect 0 "$("$S" delete class=genp "acct=$(c name)")" SecItemDelete
}
use_search() {
    printf x > "$D/$(c name)"; setfattr -n user.kSecAttrLabel -v "$(c label)" "$D/$(c name)"
    "$KEYCHAINFS" search --mount "$MNT" "label=$(c label)" | grep -q "$(c name)" || fail search
    "$KEYCHAINFS" search --mount "$MNT" -i --json "label=$(c label)" > /dev/null; "$KEYCHAINFS" search --mount "$MNT" "label=$(c none)" 2> /dev/null || true
    "$KEYCHAINFS" show "$D/$(c name)" > /dev/null
}
use_check() { printf '%s' "$(c content)" > "$D/$(c name)~"; "$KEYCHAINFS" check | grep -q "$(c name)~" || fail check; }
use_backup() {
    printf '%s' "$(c content)" > "$D/$(c name)"; rm -f "$CASE_DIR"/home/backup*; "$KEYCHAINFS" backup "$CASE_DIR/home/backup" > /dev/null
    "$KEYCHAINFS" backup --verify "$CASE_DIR/home/backup" > /dev/null
    "$KEYCHAINFS" restore --keychain "$CASE_DIR/home/restored" "$CASE_DIR/home/backup" 2> /dev/null; rm "$CASE_DIR/home/restored"
}
use_slots() {
    private "$CASE_DIR/second" "${TOKEN}passphrase-second"; private "$CASE_DIR/third" "${TOKEN}passphrase-third"
    private "$CASE_DIR/file" "$(for _ in 1 2 3; do printf '%s' "${TOKEN}passphrase-keyfile"; done)"
    "$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/second" "$MNT"; "$KEYCHAINFS" slot change 2 --new-passphrase-file "$CASE_DIR/third" "$MNT"
    "$KEYCHAINFS" slot add --kind keyfile --new-key-file "$CASE_DIR/file" --weak-key-file "$MNT"; "$KEYCHAINFS" lock "$MNT"
    "$KEYCHAINFS" unlock --key-file "$CASE_DIR/file" "$MNT"; "$KEYCHAINFS" slot list "$MNT" > /dev/null
    ! "$KEYCHAINFS" unlock --passphrase-file "$CASE_DIR/second" "$MNT" || fail "a secret that was changed"
    "$KEYCHAINFS" slot remove 2 "$MNT"; "$KEYCHAINFS" slot remove 3 "$MNT"
} 2> /dev/null
use_rekey() { printf '%s' "$(c content)" > "$D/$(c name)"; "$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1; cat "$D/$(c name)" > /dev/null; }
use_staging() {
    exec 7<> "$D/$(c staged)"; printf '%s' "$(c content)" >&7; exec 8< "$D/$(c staged)"; head -c 5 <&8 > /dev/null
    mkdir "$MNT/generic-passwords/$(c directory)"; mkdir -p "$MNT/access-groups/$(c group)"
}
for kind in ${KINDS:-files xattrs editors rpc library search check backup slots rekey staging}; do
    use_$kind
    left=$(found | grep -e content -e typed -e passphrase || true)
    [ -z "$left" ] || fail "$kind: between requests the daemon's memory has: $left"
    [ "$kind" != files ] || [ -n "$(found)" ] || fail "the scan finds nothing while all is unlocked: it cannot find anything"
    if [ -n "${CORES:-}" ]; then
        left=$(core off | grep -e content -e typed -e passphrase || true); [ -z "$left" ] || fail "$kind: a core of the unlocked daemon has: $left"
        [ "$kind" != files ] || [ -n "$(core on)" ] || fail "a core with everything has nothing: it cannot find anything"
    fi
    "$KEYCHAINFS" lock "$MNT"
    # Names of directories stay readable from the first unlock on.
    left=$(found | grep -v -e '^staging-directory' -e '^staging-group' || true); [ -z "$left" ] || fail "$kind: after the lock the daemon's memory still has: $left"
    if [ -n "${CORES:-}" ]; then
        left=$(core on | grep -v -e staging-directory -e staging-group || true); [ -z "$left" ] || fail "$kind: after the lock a core has: $left"
    fi
    exec 7>&- 8<&- || true
    "$KEYCHAINFS" unlock "$MNT"
done
unmount_keychain
# Nor is any canary in a file: keychain, log, state directory, backups.
left=$(grep -rlaF "$TOKEN" "$CASE_DIR/home" /tmp 2> /dev/null || true); [ -z "$left" ] || fail "in clear in: $left"
