# E3: `copy` puts the first line of a secret into the clipboard of a real display, and clears it after a time, unless another program
# has copied something since.
# users: both
# seconds: 30
. "${0%/*}/lib.sh"
[ "$(id -u)" != 0 ] || private_mounts
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"
D="$MNT/generic-passwords/s"; mkdir "$D"; TOKEN=Canary$(python3 -I -c 'import secrets; print(secrets.token_hex(8))')
printf '%s\nuser: amy\n' "$TOKEN" > "$D/item"; printf '%s\r\nsecond' "$TOKEN" > "$D/windows"; printf '\nsecond' > "$D/second"; : > "$D/empty"
{ printf '%s' "$TOKEN"; head -c 300000 /dev/zero | tr '\0' x; } > "$D/long"
unset DISPLAY WAYLAND_DISPLAY XAUTHORITY
code 1 'neither WAYLAND_DISPLAY nor DISPLAY' copy s/item
export DISPLAY=:4711
got=0; PATH="$CASE_DIR/none" "$KEYCHAINFS" copy s/item 2> "$ERR" || got=$?; expect 1 "$got" "without a program"
grep -q 'Install the package xclip or xsel' "$ERR" || fail "$(cat "$ERR")"
got=0; WAYLAND_DISPLAY=w PATH="$CASE_DIR/none" "$KEYCHAINFS" copy s/item 2> "$ERR" || got=$?; grep -q wl-clipboard "$ERR" || fail "$(cat "$ERR")"
code 1 'xclip cannot set the clipboard: Error' copy s/item; [ -z "$(pgrep -f "$CASE_DIR.*hold-clipboard" || true)" ] || fail "a holder remains"

. "${0%/*}/display.sh"
"$KEYCHAINFS" copy s/item > "$OUT" 2>&1 || fail "copy: $(cat "$OUT")"; [ ! -s "$OUT" ] || fail "copy prints $(cat "$OUT")"
for _ in 1 2 3; do expect "$TOKEN." "$(clipboard; echo .)" "the first line"; done
# In no argument and no environment of a process.
for process in $(holder) $(pgrep -x xclip); do
    ! tr '\0' '\n' < "/proc/$process/cmdline" | grep -q "$TOKEN" || fail "the secret in an argument"
    ! grep -qa "$TOKEN" "/proc/$process/environ" 2> /dev/null || fail "the secret in an environment"
done
"$KEYCHAINFS" copy s/windows; expect "$TOKEN" "$(clipboard)" "a line of Windows"; wait_until 5 eval '[ "$(holder | wc -l)" = 1 ]'
"$KEYCHAINFS" copy --all s/item; expect "$TOKEN"$'\nuser: amy\n.' "$(clipboard; echo .)" "all lines"
"$KEYCHAINFS" copy --all s/long; expect "$(sha256sum < "$D/long")" "$(clipboard | sha256sum)" "300 KB"
# Refused: the clipboard stays.
code 29 'is empty' copy s/empty; code 29 'first line of s/second is empty' copy s/second; code 26 '' copy s/none; code 64 '' copy --clear-after soon s/item
code 64 '' copy --clear-after -1 s/item; code 64 '' copy --clear-after 45 s/item
"$KEYCHAINFS" lock "$MNT"; code 23 'unlock' copy s/item; "$KEYCHAINFS" unlock "$MNT"
expect "$(sha256sum < "$D/long")" "$(clipboard | sha256sum)" "after refusals"
# Cleared after the time, and no process remains.
"$KEYCHAINFS" copy --clear-after 2s s/item; expect "$TOKEN" "$(clipboard)" "before the time"; wait_until 10 no_holder
! clipboard > "$OUT" 2> /dev/null || fail "not cleared: $(cat "$OUT")"
# Another program copies something: it stays.
"$KEYCHAINFS" copy --clear-after 2s s/item; printf other | xclip -selection clipboard -in; wait_until 5 no_holder; sleep 2.5
expect other "$(clipboard)" "what another program has copied"
# 0: never. From a working directory in the mount, which can be unmounted.
(cd "$D"; "$KEYCHAINFS" copy --clear-after 0 item); unmount_keychain; expect "$TOKEN" "$(clipboard)" "after the unmount"
holder > /dev/null || fail "no holder"; printf x | xclip -selection clipboard -in; wait_until 5 no_holder
# xsel alone.
mount_keychain; mkdir "$CASE_DIR/xsel"; ln -s "$(command -v xsel)" "$CASE_DIR/xsel/xsel"
PATH="$CASE_DIR/xsel" "$KEYCHAINFS" copy --clear-after 2s s/item; expect "$TOKEN" "$(clipboard)" "with xsel"; wait_until 10 no_holder
! clipboard > "$OUT" 2> /dev/null || [ ! -s "$OUT" ] || fail "not cleared by xsel: $(cat "$OUT")"
# At a terminal, the time is shown.
python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" copy --clear-after 2s s/item -- 'cleared in 2s' > "$OUT" 2>&1 || fail "at a terminal: $(cat "$OUT")"
wait_until 10 no_holder
# wl-copy: a program with its command line, which keeps the text in a file as wl-copy does, and removes it with --clear only.
[ "$(id -u)" = 0 ] || exit 0
mkdir "$CASE_DIR/wayland" "$CASE_DIR/disk"; cat > "$CASE_DIR/wayland/wl-copy" <<'SH'
#!/bin/bash
case $1 in
--help) echo "${WL_HELP-}"; exit ;;
--clear) kill -USR1 "$(cat /tmp/wl-copy-pid)"; exit ;;
esac
printf '%s\n' "$@" > /tmp/wl-copy-arguments; echo "$TMPDIR" >> /tmp/wl-copy-arguments; cat > /tmp/wl-copy-buffer; echo $$ > /tmp/wl-copy-pid
trap 'rm /tmp/wl-copy-buffer; exit 0' USR1
while sleep 0.1; do :; done
SH
chmod +x "$CASE_DIR/wayland/wl-copy"; export PATH="$CASE_DIR/wayland:/usr/bin:/bin" WAYLAND_DISPLAY=wayland-0 TMPDIR="$CASE_DIR/disk"
mount --bind "$CASE_DIR/disk" /tmp
if ! findmnt -n -o FSTYPE -T "$CASE_DIR/disk" | grep -q tmpfs; then
    (unset DISPLAY; code 1 'a file in /tmp, which is on a disk' copy s/item)
    [ ! -e /tmp/wl-copy-buffer ] || fail "a secret on a disk"
    "$KEYCHAINFS" copy --clear-after 1s s/item; wait_until 10 no_holder; [ ! -e /tmp/wl-copy-arguments ] || fail "wl-copy instead of xclip"
fi
mount -t tmpfs tmpfs /tmp; mkdir -p /tmp/.X11-unix
for help in '' '  --sensitive  hint'; do
    WL_HELP=$help "$KEYCHAINFS" copy --clear-after 1s s/item; expect "$TOKEN" "$(cat /tmp/wl-copy-buffer)" "the input of wl-copy"
    expect "--foreground --type text/plain${help:+ --sensitive} /tmp" "$(paste -sd' ' /tmp/wl-copy-arguments)" "the options of wl-copy"
    wait_until 10 no_holder; [ ! -e /tmp/wl-copy-buffer ] || fail "wl-copy was not asked to remove its file"
done
