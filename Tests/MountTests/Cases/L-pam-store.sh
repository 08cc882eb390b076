# The recipe for PAM: regardless of the file at the keychain's path, a login continues within a second, and only the
# user opens the file.
# users: root
# needs: share
# seconds: 20
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
make_accounts
home="$CASE_DIR/login"; store="$home/.local/share/keychainfs/login.keychain"; K="$home/Keychain"
sed -e "s|^program=.*|program='$KEYCHAINFS'|" -e "s|^home=.*|home='$home'|" "$CASE_DIR/share/pam/keychainfs-login" > "$CASE_DIR/helper"
chmod 755 "$CASE_DIR/helper"; mkdir -p "${store%/*}"; (umask 077; printf 'correct horse\n' > "$home/passphrase"); chown -R "$A" "$home"
user() { as "$A" env -i PATH="$PATH" HOME="$home" "$@"; }
mounted() { grep -q " $K fuse\." /proc/self/mounts; }
user "$KEYCHAINFS" create --kdf test --passphrase-file "$home/passphrase"; mv "$store" "$CASE_DIR/original"
printf 'correct horse\0' > "$CASE_DIR/password"
login() { # LIMIT in milliseconds
    local start=${EPOCHREALTIME/./} took
    timeout 60 env PAM_TYPE=auth PAM_SERVICE=sshd PAM_USER="$A" "$@" "$CASE_DIR/helper" < "$CASE_DIR/password" ||
        fail "the login failed ($what)"
    took=$(((${EPOCHREALTIME/./} - start) / 1000)); echo "$what: $took ms"
    [ "$took" -le "$limit" ] || fail "$what: the login took $took ms"
}
# Fails if a process of another user than the user of the login opens or examines the keychain file.
traced() {
    login strace -f -qq -o "$CASE_DIR/trace" -e trace=%file,%creds,clone,clone3,fork,vfork
    python3 -I - "$CASE_DIR/trace" "$(id -u "$A")" "$store" <<'PY' || fail "$what: opened with other rights than the user's"
import re, sys
user, parents, seen = {}, {}, 0
lines = list(open(sys.argv[1], errors="replace"))
# A child's lines may come before the end of the system call that created it.
for line in lines:
    child = re.search(r"(?:clone3?|v?fork)(?:\(| resumed).*= (\d+)$", line.strip())
    if child: parents[child[1]] = line.partition(" ")[0]
of_user = lambda pid: user.get(pid) or (pid in parents and of_user(parents[pid]))
for line in lines:
    pid, _, call = line.partition(" ")
    if re.match(rf"set(res|re)?uid\({sys.argv[2]}\b.*= 0", call.strip()): user[pid] = True
    if sys.argv[3] in call and not call.strip().startswith("execve"):
        seen += 1
        assert of_user(pid), line
assert seen, "nothing examined the store"
PY
}
place() {
    rm -rf "$store"; what=$1
    case $1 in
    FIFO) mkfifo "$store";;
    link) install -m 600 -o "$A" "$CASE_DIR/original" "$home/elsewhere"; ln -s "$home/elsewhere" "$store";;
    device-link) ln -s /dev/zero "$store";;
    directory) mkdir "$store";;
    large) truncate -s 10G "$store";;
    large-keychain) cp "$CASE_DIR/original" "$store"; truncate -s 10G "$store";;
    other-owner) cp "$CASE_DIR/original" "$store"; chown "$B" "$store"; chmod 644 "$store"; return;;
    writable) cp "$CASE_DIR/original" "$store"; chmod 666 "$store";;
    esac
    chown -h "$A" "$store"
}
for kind in FIFO link device-link directory large large-keychain other-owner writable; do
    place $kind; limit=1000; login
    [ $kind = large-keychain ] || ! mounted || fail "$kind was mounted"
    if mounted; then user "$KEYCHAINFS" unmount "$K"; fi
    # A mounted daemon would be traced until it ends.
    [ $kind = large-keychain ] || { place $kind; limit=30000; traced; }
done
# The keychain itself is mounted.
rm -rf "$store"; install -m 600 -o "$A" "$CASE_DIR/original" "$store"; what=original; limit=30000; login; mounted || fail "the original was not mounted"
user "$KEYCHAINFS" unmount "$K"
