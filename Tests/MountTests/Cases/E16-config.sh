# E16: settings of keychain, mount point, mount options, automatic locks and the clipboard; a mistake prevents everything but a lock.
# users: both
# seconds: 20
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
C="$HOME/.config/keychainfs/config"; mkdir -p "${C%/*}"; unset KEYCHAINFS_MOUNT XDG_CONFIG_HOME; M="$HOME/Secrets"; K="$HOME/work.keychain"
set_() { printf '%s\n' "$@" > "$C"; chmod 600 "$C"; }
ends() { # CODE TEXT COMMAND…: a message with that text on standard error
    local wanted=$1 text=$2 got=0; shift 2; "$KEYCHAINFS" "$@" < /dev/null > "$OUT" 2> "$ERR" || got=$?
    expect "$wanted" "$got" "exit code of '$*' ($(cat "$ERR"))"; grep -qF -- "$text" "$ERR" || fail "'$*': no '$text' in $(cat "$ERR")"
}
options() { echo "$("$KEYCHAINFS" status "$MNT" 2>&1 | grep -o read-only || echo rw)" "$(grep " $MNT fuse" /proc/self/mounts | cut -d' ' -f4)"; }
locks() { "$KEYCHAINFS" status "$@" | sed -n 's/^locks: *//p'; }
# Nothing is set.
"$KEYCHAINFS" config > "$OUT"; grep -q "^mount-point *$HOME/Keychain  *default$" "$OUT" || fail "$(cat "$OUT")"; expect 7 "$(wc -l < "$OUT")" "settings"
# The keychain and the mount point, which is created with mode 0700; options of the settings.
set_ '# mine' "keychain = ~/work.keychain" '' 'mount-point = ~/Secrets' 'lock-after = 15m' 'lock-on = suspend' 'mount-options = ro,noexec'
"$KEYCHAINFS" create --kdf test > "$OUT" 2>&1 || fail "create: $(cat "$OUT")"; [ -f "$K" ] || fail "the keychain of the settings was not created"
"$KEYCHAINFS" mount; MNT=$M; is_mounted || fail "not mounted at the mount point of the settings"
case $(options) in read-only*noexec*) ;; *) fail "options: $(options)" ;; esac
expect "$(locks)" "$(locks "$M")" "locks"; case $(locks) in *15m*suspend*) ;; *) fail "locks: $(locks)" ;; esac
"$KEYCHAINFS" status --json > "$OUT"; grep -q "$K" "$OUT" || fail "another keychain: $(cat "$OUT")"
! mkdir "$M/generic-passwords/x" 2> /dev/null || fail "not read-only"
# A change of the file has no effect on a mount, and a mistake in it none on a lock.
set_ 'mount-point = ~/Secrets' 'mount-options = rw'; case $(options) in read-only*noexec*) ;; *) fail "options: $(options)" ;; esac
set_ 'mount-point = ~/Secrets' 'mount-options = rw' 'unknown = x'
for command in "get web/amy" "add web/amy" "tree" "status" "unlock" "mount" "show web" "why web/amy" "search x" "check" "slot list" "create" "config" "copy web/amy" \
    "otp web/amy" "run -- true" "backup /tmp/nothing" "helper git-credential get" "rekey"; do
    # shellcheck disable=SC2086
    ends 64 "$C, line 3: the name is unknown" $command; [ ! -s "$OUT" ] || fail "'$command' printed $(cat "$OUT")"
done
got=0; "$KEYCHAINFS" status --quiet || got=$?; expect 64 "$got" "status --quiet"
ends 0 "warning: $C, line 3: the name is unknown" lock; expect locked "$(XDG_CONFIG_HOME=/nonexistent status state)" "the state"
"$KEYCHAINFS" doctor > "$OUT" 2> "$ERR" || true; grep -q "warning: $C" "$ERR" || fail "doctor: $(cat "$ERR")"
"$KEYCHAINFS" generate > "$OUT" 2> "$ERR" || fail "generate needs no settings"; [ ! -s "$ERR" ] || fail "$(cat "$ERR")"
ends 0 "warning: $C" unmount; ! is_mounted || fail "still mounted"
# A file that others may write has no effect at all.
chmod 620 "$C"; ends 18 'chmod go-w' mount; ends 18 'chmod go-w' config; ends 17 "No keychain is mounted at $HOME/Keychain" lock; grep -q 'warning:' "$ERR" || fail "$(cat "$ERR")"
chmod 000 "$C"; [ "$(id -u)" = 0 ] || ends 64 'cannot be read' mount; rm "$C"; mkfifo "$C"; ends 64 'not a file' mount; rm "$C"
# Precedence: option, variable, settings.
set_ "keychain = ~/work.keychain" 'mount-point = ~/Secrets' 'lock-after = 15m' 'lock-on = suspend,screen' 'mount-options = ro,noexec,fsname=mine'
mkdir "$HOME/other"; KEYCHAINFS_MOUNT="$HOME/other" "$KEYCHAINFS" mount --lock-after 1h --lock-on suspend -o rw; MNT="$HOME/other"; is_mounted || fail "not at the variable's mount point"
case $(options) in rw*noexec*) ;; *) fail "options: $(options)" ;; esac; grep -q "^mine $MNT fuse" /proc/self/mounts || fail "fsname of the settings"
case $(locks "$MNT") in *screen*) fail "locks: $(locks "$MNT")" ;; *1h*suspend*) ;; *) fail "locks: $(locks "$MNT")" ;; esac
export KEYCHAINFS_MOUNT=$MNT; printf geheim | "$KEYCHAINFS" add web/amy; expect geheim "$("$KEYCHAINFS" get web/amy)" "with the variable"; unset KEYCHAINFS_MOUNT
"$KEYCHAINFS" config | grep -q "^lock-on *suspend,screen *$C, line 4$" || fail "config: $("$KEYCHAINFS" config)"
KEYCHAINFS_MOUNT=/v "$KEYCHAINFS" config --json | jq -e '.settings["mount-point"] == {"source":"environment","value":"/v"}' > "$OUT" || fail "config --json"
"$KEYCHAINFS" unmount "$MNT"
"$KEYCHAINFS" create --kdf test --keychain "$HOME/own.keychain" > "$OUT" 2>&1; mkdir "$HOME/own"
"$KEYCHAINFS" mount --keychain "$HOME/own.keychain" "$HOME/own"; MNT="$HOME/own"; is_mounted || fail "the keychain and the mount point of the command line"
"$KEYCHAINFS" unmount "$MNT"
# How the keychain is unlocked: the command line replaces the settings.
printf '%s' "$(cat "$KEYCHAINFS_PASSPHRASE_FILE")" > "$HOME/pass"; chmod 600 "$HOME/pass"; saved=$KEYCHAINFS_PASSPHRASE_FILE; unset KEYCHAINFS_PASSPHRASE_FILE
set_ "keychain = ~/work.keychain" 'mount-point = ~/Secrets' "mount-options = passphrase_file=$HOME/pass"; MNT=$M
"$KEYCHAINFS" mount < /dev/null; expect unlocked "$(status state)" "with the passphrase file of the settings"; "$KEYCHAINFS" unmount
"$KEYCHAINFS" mount --locked; expect before-first-unlock "$(status state)" "--locked"; "$KEYCHAINFS" unmount
printf wrong > "$HOME/wrong"; chmod 600 "$HOME/wrong"; ends 10 'passphrase' mount --passphrase-file "$HOME/wrong"; ! is_mounted || fail "mounted with the passphrase of the settings"
set_ "keychain = ~/work.keychain" 'mount-point = ~/Secrets' 'mount-options = locked'
"$KEYCHAINFS" mount --passphrase-file "$HOME/pass"; expect unlocked "$(status state)" "a passphrase of the command line"; export KEYCHAINFS_PASSPHRASE_FILE=$saved
# The mount helper of mount(8) uses none of them: what fstab(5) names holds.
"$KEYCHAINFS" unmount; set_ 'unknown = x' 'mount-options = ro'
"$KEYCHAINFS" mount-helper "$K" "$M" -o passphrase_file="$HOME/pass"; rm "$C"; case $(options) in rw*) ;; *) fail "options: $(options)" ;; esac
"$KEYCHAINFS" unmount "$M"
