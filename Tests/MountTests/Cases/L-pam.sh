# The recipe for PAM: a login with its password mounts or unlocks the keychain, and never fails or hangs because of it. C7: the end of the
# user's last session locks and unmounts. C8: passwords of services that are not logins unlock nothing.
# users: root
# needs: share
# seconds: 50
. "${0%/*}/lib.sh"
private_mounts
user=keychainfs-test; service=keychainfs-case-$$
id "$user" > /dev/null 2>&1 ||
    flock /etc useradd --system --no-create-home --shell /bin/bash "$user" ||    # see Account.creation
    id "$user" > /dev/null                                                       # another test has created it meanwhile
# pam_exec passes no variable: the helper's copy contains the paths of this program and this home.
home="$CASE_DIR/login"; mkdir "$home"; K="$home/Keychain"
# loginctl is replaced, too: $CASE_DIR/sessions contains a line `ID CLASS STATE` for each session of the user.
sed -e "s|^program=.*|program='$KEYCHAINFS'|" -e "s|^home=.*|home='$home'|" -e "s|\bloginctl\b|'$CASE_DIR/loginctl'|" \
    -e "s|/var/lib/systemd/linger|$CASE_DIR/linger|; s|/run/systemd/seats|$CASE_DIR/seats|" \
    "$CASE_DIR/share/pam/keychainfs-login" > "$CASE_DIR/helper"
cat > "$CASE_DIR/loginctl" <<'PROGRAM'
#!/bin/bash
sessions="${0%/*}/sessions"
[ -e "$sessions" ] || exit 1
case $1:$3 in
show-user:--property=Sessions) cut -d' ' -f1 "$sessions" | tr '\n' ' ' ;;
show-session:--property=Class) sed -n "s/^$2 \([^ ]*\) .*/\1/p" "$sessions" ;;
show-session:--property=State) sed -n "s/^$2 [^ ]* //p" "$sessions" ;;
*) exit 1 ;;
esac
PROGRAM
chmod 755 "$CASE_DIR/loginctl"
chmod 755 "$CASE_DIR/helper"; chown "$user" "$home"
as() { runuser -u "$user" -- env -i PATH="$PATH" HOME="$home" "$@"; }
mounted() { grep -q " $K fuse\." /proc/self/mounts; }
done_with() {
    local code=$?
    rm -f "/etc/pam.d/$service"
    if mounted; then as "$KEYCHAINFS" unmount "$K" || umount -l "$K"; fi
    cleanup "$code"
}
trap done_with EXIT
# pam FIRST-ARGUMENT…: the configuration of the service, with arguments of the helper.
pam() {
    printf '%s\n' "auth optional pam_exec.so expose_authtok quiet $CASE_DIR/helper $*" 'auth required pam_permit.so' \
        "session optional pam_exec.so type=close_session quiet $CASE_DIR/helper $*" 'session required pam_permit.so' > "/etc/pam.d/$service"
}
pam "$service"
login() { local start=$SECONDS; printf '%s\n' "$1" | timeout 60 pamtester "$service" "$user" authenticate > "$CASE_DIR/said" 2>&1 ||
    fail "the login failed: $(cat "$CASE_DIR/said")"; [ $((SECONDS - start)) -le "${2:-30}" ] || fail "it took too long"; }
# status [KEY [MOUNT]]: a value of the status of a mount.
status() { as "$KEYCHAINFS" status --json "${2-$K}" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }
state() { status state "$@"; }
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
pid=$(status pid)
stop_process "$pid"; login 'correct horse' 20; kill -CONT "$pid"

# C8: only logins and screens unlock; what the user has locked by hand stays locked. The names are those that the script knows.
# A file, because the helper may end before it reads a pipe.
printf 'correct horse\0' > "$CASE_DIR/password"
helper() {
    local type=$1 name=$2; shift 2
    timeout 60 env PAM_TYPE="$type" PAM_SERVICE="$name" PAM_USER="$user" "$@" "$CASE_DIR/helper" < "$CASE_DIR/password" ||
        fail "$name: the helper failed"
}
for name in sudo sudo-i su su-l polkit-1 passwd cron cups runuser systemd-user chsh samba dovecot "" "login sshd" sshd2 '*' "$service"; do
    as "$KEYCHAINFS" lock "$K"; helper auth "$name"; expect locked "$(state)" "a password for '$name'"
done
helper auth sshd PAM_SERVICE=; expect locked "$(state)" "without a service"
for name in login sshd gdm-password lightdm sddm greetd kde swaylock xscreensaver i3lock; do
    as "$KEYCHAINFS" lock "$K"; helper auth "$name"; expect unlocked "$(state)" "a password for '$name'"
done
pam; as "$KEYCHAINFS" lock "$K"; login 'correct horse'; expect locked "$(state)" "a service that is not named"
pam other "$service"; login 'correct horse'; expect unlocked "$(state)" "a service that is named"

# C7: the last session.
logout() {
    printf 'correct horse\n' | timeout 60 pamtester "$service" "$user" authenticate open_session close_session > "$CASE_DIR/said" 2>&1 ||
        fail "$what: $(cat "$CASE_DIR/said")"
}
for sessions in "2 user active" "1 user closing;2 user online" "1 manager active;c2 user-early opening" \
    "2 background closing;3 user active"; do
    what="a session remains ($sessions)"; tr ';' '\n' <<< "$sessions" > "$CASE_DIR/sessions"; logout
    mounted || fail "$what: unmounted"; expect unlocked "$(state)" "$what"
done
for sessions in "1 user closing" "1 user closing;2 manager active" "3 background active;4 greeter active;5 lock-screen active" \
    "2 user closing;3 user closing" ""; do
    what="no session remains ($sessions)"; login 'correct horse'; tr ';' '\n' <<< "$sessions" > "$CASE_DIR/sessions"; logout
    if mounted; then fail "$what: still mounted"; fi
done
what="its own session"; login 'correct horse'; echo "7 user active" > "$CASE_DIR/sessions"; helper close_session sshd XDG_SESSION_ID=7
if mounted; then fail "$what: still mounted"; fi
what="without logind"; login 'correct horse'; rm "$CASE_DIR/sessions"; logout; if mounted; then fail "$what: still mounted"; fi
# The end of another service is ignored.
what="sudo"; login 'correct horse'; helper close_session sudo; expect unlocked "$(state)" "$what"
# In use: it stays mounted, and is locked. So are other keychains of the user, and a keychain of a user who lingers.
what="in use"; as mkdir "$home/Other"; printf secret > "$CASE_DIR/value"
as sh -c "mkdir '$K/generic-passwords/s' && echo secret > '$K/generic-passwords/s/a'"
as "$KEYCHAINFS" create --kdf test --keychain other --passphrase-file "$home/passphrase"
as "$KEYCHAINFS" mount other "$home/Other" --passphrase-file "$home/passphrase"
as sh -c "cd '$K' && touch '$home/entered' && exec sleep 100" & holder=$!; wait_until 10 test -e "$home/entered"
logout; mounted || fail "$what: unmounted"; expect locked "$(state)" "$what"
expect_errno ENOKEY as cat "$K/generic-passwords/s/a"
expect locked "$(state "$home/Other")" "another keychain of the user"
as "$KEYCHAINFS" unmount "$home/Other"; pkill -P "$holder" || kill "$holder"; wait "$holder" 2> /dev/null || true
what="lingering"; login 'correct horse'; mkdir "$CASE_DIR/linger"; touch "$CASE_DIR/linger/$user"; logout
mounted || fail "$what: unmounted"; expect locked "$(state)" "$what"; rm -r "$CASE_DIR/linger"
# Nothing is mounted: not a failure, and nothing is created.
as "$KEYCHAINFS" unmount "$K"; what="without a mount"; logout; if mounted; then fail "$what: mounted"; fi
# Root has mounted the keychains of services: they stay unlocked.
what="root"; mkdir "$CASE_DIR/service"; chmod 755 "$home"
root() { env HOME="$home" "$KEYCHAINFS" "$@"; }
for name in service root; do root create --kdf test --keychain "$CASE_DIR/$name.keychain"; done
root mount "$CASE_DIR/service.keychain" "$CASE_DIR/service"; root mount "$CASE_DIR/root.keychain" "$K"
echo "1 user closing" > "$CASE_DIR/sessions"; helper close_session sshd PAM_USER=root
if mounted; then fail "$what: still mounted"; fi
root status --quiet "$CASE_DIR/service" || fail "the keychain of a service: $?"; root unmount "$CASE_DIR/service"
# With systemd-logind it is locked with the screen.
mkdir "$CASE_DIR/seats"; login 'correct horse'
as "$KEYCHAINFS" status "$K" | grep -q 'when the screen is locked' || fail "no lock with the screen"
# A daemon that hangs delays a logout only briefly.
pid=$(status pid)
stop_process "$pid"; start=$SECONDS; helper close_session sshd
[ $((SECONDS - start)) -le 50 ] || fail "the logout took $((SECONDS - start)) s"
kill -CONT "$pid"; is_locked() { [ "$(state)" = locked ]; }; wait_until 10 is_locked
