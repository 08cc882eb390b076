# S2, S8: the disk under a keychain, byte by byte: no content, name, attribute or passphrase, in use and afterwards.
. "${0%/*}/lib.sh"
TOKEN=$(python3 -I -c "import secrets; print('Canary' + secrets.token_hex(8) + '-')")
install -m 600 /dev/null "$PASSPHRASE"; printf '%spassphrase' "$TOKEN" > "$PASSPHRASE"
truncate -s 96M "$CASE_DIR/image"; mkfs.ext4 -q -F "$CASE_DIR/image"; mkdir "$CASE_DIR/disk"
disk_cleanup() { local code=$?; ! is_mounted || "$KEYCHAINFS" unmount "$MNT" || fusermount3 -uz "$MNT"; umount "$CASE_DIR/disk" 2> /dev/null || true; cleanup $code; }
trap disk_cleanup EXIT
mount -o loop "$CASE_DIR/image" "$CASE_DIR/disk"
export XDG_DATA_HOME="$CASE_DIR/disk/data" XDG_STATE_HOME="$CASE_DIR/disk/state" TMPDIR="$CASE_DIR/disk"; HOME="$CASE_DIR/disk/home"; mkdir "$HOME"
KEYCHAIN="$XDG_DATA_HOME/keychainfs/login.keychain"
create_keychain; mount_keychain; D="$MNT/generic-passwords/${TOKEN}service"; mkdir "$D"
for i in $(seq 60); do
    for _ in 1 2 3 4; do printf '%scontent' "$TOKEN"; done > "$D/${TOKEN}name$i"; setfattr -n user.kSecAttrComment -v "${TOKEN}comment" "$D/${TOKEN}name$i"
done
rm "$D/${TOKEN}name"[1-9]; mv "$D/${TOKEN}name10" "$D/${TOKEN}moved"; "$KEYCHAINFS" check > /dev/null
"$KEYCHAINFS" backup "$CASE_DIR/disk/backup" > /dev/null; "$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1
for state in unlocked locked unmounted; do
    case $state in locked) "$KEYCHAINFS" lock "$MNT" ;; unmounted) unmount_keychain ;; esac
    sync -f "$CASE_DIR/disk"
    ! grep -qaF "$TOKEN" "$CASE_DIR/image" || fail "$state: in clear on the disk: $(grep -aoE "$TOKEN[a-z]+" "$CASE_DIR/image" | sort | uniq -c)"
done
# The search finds data on the disk.
printf '%s' "$TOKEN" > "$CASE_DIR/disk/control"; sync -f "$CASE_DIR/disk"; grep -qaF "$TOKEN" "$CASE_DIR/image" || fail "the search finds nothing"
echo "disk: nothing of it in $(stat -c %s "$CASE_DIR/image") bytes"
