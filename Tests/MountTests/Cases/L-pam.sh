# The recipe for PAM: a login with its password mounts or unlocks the keychain, and never fails or hangs because of it.
# users: root
# needs: share
# seconds: 27
. "${0%/*}/lib.sh"
user=keychainfs-test; service=keychainfs-case-$$
id "$user" > /dev/null 2>&1 ||
    flock /etc useradd --system --no-create-home --shell /bin/bash "$user" ||    # see Account.creation
    id "$user" > /dev/null                                                       # another test has created it meanwhile
# pam_exec passes no variable: the helper's copy contains the paths of this program and this home.
home="$CASE_DIR/login"; mkdir "$home"; K="$home/Keychain"
sed -e "s|^program=.*|program='$KEYCHAINFS'|" -e "s|^home=.*|home='$home'|" "$CASE_DIR/share/pam/keychainfs-login" \
    > "$CASE_DIR/helper"
chmod 755 "$CASE_DIR/helper"; chown "$user" "$home"
as() { runuser -u "$user" -- env -i PATH="$PATH" HOME="$home" "$@"; }
mounted() { grep -q " $K fuse\." /proc/self/mounts; }
done_with() { local code=$?; rm -f "/etc/pam.d/$service"; if mounted; then as "$KEYCHAINFS" unmount "$K" || umount -l "$K"; fi; cleanup "$code"; }
trap done_with EXIT
printf '%s\n' "auth optional pam_exec.so expose_authtok quiet $CASE_DIR/helper" 'auth required pam_permit.so' > "/etc/pam.d/$service"
login() { local start=$SECONDS; printf '%s\n' "$1" | timeout 60 pamtester "$service" "$user" authenticate > "$CASE_DIR/said" 2>&1 ||
    fail "the login failed: $(cat "$CASE_DIR/said")"; [ $((SECONDS - start)) -le "${2:-30}" ] || fail "it took too long"; }
state() { as "$KEYCHAINFS" status --json "$K" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['state'])"; }
login 'correct horse'; if [ -e "$K" ]; then fail "without a keychain something was made"; fi
install -m 400 -o "$user" "$PASSPHRASE" "$home/passphrase"
as "$KEYCHAINFS" create --kdf test --passphrase-file "$home/passphrase"
login 'wrong password'; if mounted; then fail "mounted with a wrong password"; fi
login 'correct horse'; mounted || fail "not mounted: $(cat "$CASE_DIR/said")"
expect unlocked "$(state)" "after the login"
login 'correct horse'; expect unlocked "$(state)" "a second login"
as "$KEYCHAINFS" lock "$K"; login 'wrong password'; expect locked "$(state)" "a wrong password"
login 'correct horse'; expect unlocked "$(state)" "a login unlocks"
# A daemon that hangs delays a login only briefly.
pid=$(as "$KEYCHAINFS" status --json "$K" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['pid'])")
stop_process "$pid"; login 'correct horse' 55; kill -CONT "$pid"
