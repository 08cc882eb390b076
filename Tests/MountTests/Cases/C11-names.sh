# C11: text without a '/' is the name of a keychain in the data directory, in every command and working directory;
# text with one is a path. C12 and C13: what `mount` says without a keychain, on an existing mount, and of a missing mount point.
# users: user
# seconds: 20
. "${0%/*}/lib.sh"
DATA="${KEYCHAIN%/*}"; STORE="$DATA/work.keychain"
mkdir "$CASE_DIR/w" "$CASE_DIR/elsewhere"; cd "$CASE_DIR/w"
says() { grep -qF -- "$1" "$CASE_DIR/said" || fail "no '$1' in: $(cat "$CASE_DIR/said")"; }
code() { local wanted=$1; shift; expect_code "$wanted" "$KEYCHAINFS" "$@" > "$CASE_DIR/said" < /dev/null; }
expect_quiet() {
    local code=0
    "$KEYCHAINFS" status --quiet --keychain "$2" > "$CASE_DIR/said" 2>&1 || code=$?
    expect "$1" "$code" "status --quiet --keychain $2"
    [ ! -s "$CASE_DIR/said" ] || fail "it printed $(cat "$CASE_DIR/said")"
}

# C12: the first command of a new user.
code 11 mount; says "There is no keychain at $DATA/login.keychain. Make one with 'keychainfs create'."
code 11 mount "$CASE_DIR/missing"; code 11 mount "$HOME"; code 11 mount work ./missing; says "'keychainfs create --keychain work'"
[ ! -e "$HOME/Keychain" ] || fail "a mount point without a keychain"

# The name, in every command.
code 0 create --kdf test --keychain work; says "created $STORE. Mount it with 'keychainfs mount --keychain work'."
[ -f "$STORE" ] && [ -z "$(ls)" ] || fail "create --keychain NAME wrote into the working directory"
code 20 create --kdf test --keychain work.keychain; says "$STORE exists already"
for command in check "slot list" doctor "check --compact"; do code 0 $command --keychain work; done
code 0 slot add --kind recovery --keychain work.keychain
code 0 backup --keychain work ./copy
code 0 mount work "$CASE_DIR/elsewhere"; "$KEYCHAINFS" status "$CASE_DIR/elsewhere" | grep -qF "$STORE" || fail "mount NAME DIRECTORY"
code 0 status --keychain work; says "mounted at:  $CASE_DIR/elsewhere"; code 64 status --keychain work "$MNT"
code 14 mount --keychain work "$MNT"; says "is mounted at $CASE_DIR/elsewhere by process"
says "or 'keychainfs unmount $CASE_DIR/elsewhere' it."
code 0 unmount "$CASE_DIR/elsewhere"; code 17 status --keychain work
says "$STORE is not mounted. Mount it with 'keychainfs mount --keychain work'."
code 11 status --keychain none; says "'keychainfs create --keychain none'"
for quiet in "work 17" "none 11"; do expect_quiet "${quiet#* }" "${quiet% *}"; done
code 0 mount --keychain work.keychain -o fsname=x; expect_quiet 0 work; code 0 lock; expect_quiet 23 work; code 0 unmount
XDG_DATA_HOME="$CASE_DIR/x" code 0 create --kdf test --keychain work; [ -f "$CASE_DIR/x/keychainfs/work.keychain" ] || fail "XDG_DATA_HOME"

# Files in the working directory are named by a path only.
cp "$STORE" other; code 11 check --keychain other
says "There is no keychain at $DATA/other.keychain. Make one with 'keychainfs create --keychain other'."
says "The file of that name in this directory is ./other"
mv other other.keychain; for name in other other.keychain; do code 11 slot list --keychain $name; says "directory is ./other.keychain"; done
code 11 mount other "$CASE_DIR/elsewhere"; says "./other.keychain"; code 0 check --keychain ./other.keychain
code 11 backup --keychain other copy2; says "./other.keychain"; [ ! -e copy2 ] || fail "a backup of nothing"
expect_code 0 "$KEYCHAINFS" doctor --keychain other | grep -qF './other.keychain' || fail "doctor"
# As mount(8) does it: paths.
code 0 other.keychain "$CASE_DIR/elsewhere" -o ro
"$KEYCHAINFS" status "$CASE_DIR/elsewhere" | grep -qF "$CASE_DIR/w/other.keychain" || fail "the source of mount(8)"
code 0 unmount "$CASE_DIR/elsewhere"

# Refused names.
for name in "" . .. .keychain -x - ..keychain; do
    for command in create check "slot list" doctor mount; do code 64 $command "--keychain=$name"; done
done
for name in "" . .. .keychain; do code 64 mount "$name" "$MNT"; code 64 backup --keychain "$name" b; done
says "cannot be the name of a keychain. A path contains a '/': './.keychain'."
expect "copy other.keychain" "$(echo *)" "the working directory"

# A name with a space, as an argument that can be copied.
code 0 create --kdf test --keychain "my work"; says "'keychainfs mount --keychain 'my work''"
long=$(printf 'k%.0s' {1..300})
for name in "$long" "./$long"; do code 64 create --kdf test --keychain "$name"; says "longer than 240 bytes"; done
# Names are not normalized: two keychains, and two mount points, whose names differ in bytes only.
composed=$'\xc3\xa9' decomposed=$'e\xcc\x81'
for name in $composed $decomposed; do
    code 0 create --kdf test --keychain $name; mkdir "$CASE_DIR/$name"
    code 17 status --keychain $name; code 0 mount $name "$CASE_DIR/$name"
    "$KEYCHAINFS" status --keychain $name | grep -qF "$CASE_DIR/$name" || fail "another keychain for $name"
done
mkdir "$CASE_DIR/$composed/generic-passwords/only-here"
code 0 lock "$CASE_DIR/$composed"; expect_quiet 23 $composed; expect_quiet 0 $decomposed
for name in $composed $decomposed; do code 0 unmount "$CASE_DIR/$name"; done

# A keychain without its mount point.
code 15 mount work; says "$CASE_DIR/w/work does not exist. If it is the keychain $STORE, name its mount point too: 'keychainfs mount work MOUNTPOINT'."
says "Otherwise create it with 'mkdir $CASE_DIR/w/work'."
code 15 mount work "$CASE_DIR/work"; says "$CASE_DIR/work does not exist. Create it with"
code 15 mount "$STORE"; says "'keychainfs mount $STORE MOUNTPOINT'"

# C13: an existing mount keeps its options.
code 0 create --kdf test; code 0 mount; code 15 mount --lock-after 15m
says "A keychain is mounted at $HOME/Keychain already, and keeps the options of its mount."
says "To change them, 'keychainfs unmount' it, and mount it with the new ones."
code 0 unmount; code 0 mount --lock-after 15m
"$KEYCHAINFS" status | grep -q 15 || fail "the option of the new mount"
code 15 mount --keychain work; says "For another keychain, name another directory."
code 0 unmount
code 0 mount "$MNT"; code 15 mount --keychain work "$MNT" --lock-after 1m; says "'keychainfs unmount $MNT' it"; code 0 unmount "$MNT"
cd "$CASE_DIR/w"; code 0 restore --keychain restored copy; says "'keychainfs mount --keychain restored'"
[ -f "$DATA/restored.keychain" ] || fail "restore --keychain NAME"
