# E1: `add` creates an item with secret and attributes in one commit, durably, or not at all; `add --replace` replaces the secret alone.
# seconds: 30
# needs: SlowDisk
. "${0%/*}/lib.sh"
cat > "$CASE_DIR/failing_disk.c" <<'C'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
/* The next synchronization of the keychain's file after the creation of the file that FAIL_SYNC names fails; not one of another file,
   which may come later on a busy machine. */
int fdatasync(int descriptor) {
    char link[32], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (readlink(link, path, sizeof path - 1) < 0) abort();
    const char *file = strstr(path, ".keychain") ? getenv("FAIL_SYNC") : NULL;
    if (!file || unlink(file)) return syscall(SYS_fdatasync, descriptor);
    errno = EIO;
    return -1;
}
C
compile_library failing_disk; FAIL_SYNC="$CASE_DIR/fail"
slow_disk; create_keychain; mount_slow; export KEYCHAINFS_MOUNT="$MNT"
G="$MNT/generic-passwords"; IN="$CASE_DIR/in"; ERR="$CASE_DIR/err"
# add CODE ARGUMENT…: standard input is $IN.
add() {
    local wanted=$1 got=0; shift
    "$KEYCHAINFS" add "$@" < "$IN" > "$CASE_DIR/out" 2> "$ERR" || got=$?
    expect "$wanted" "$got" "add $* ($(cat "$ERR"))"; [ ! -s "$CASE_DIR/out" ] || fail "add printed $(cat "$CASE_DIR/out")"
}
said() { grep -qF -- "$1" "$ERR" || fail "no '$1' in: $(cat "$ERR")"; }
same() { cmp "$IN" "$1" || fail "another secret in $1"; }

# Bytes unchanged: of each kind and length, in a service that is missing.
for bytes in 'x' 'line\n' '\n' 'a\0b' '\0' ' two\n\nlines \r\n' '\303\274\n' '\377'; do
    printf "$bytes" > "$IN"; add 0 --replace bytes/item; same "$G/bytes/item"
done
head -c $((1 << 20)) /dev/urandom > "$IN"; add 0 big/item; same "$G/big/item"
printf 'line\n\n' > "$IN"; add 0 --no-newline n/a; expect $'line\n.' "$(cat "$G/n/a"; echo .)" "--no-newline"
printf 'line' > "$IN"; add 0 --no-newline n/b; expect 'line' "$(cat "$G/n/b")" "--no-newline without a line feed"
# One commit, in an existing service; what is missing costs one each.
printf secret > "$IN"; mkdir "$G/one"
commits_of 1 add 0 --label L --accessible AfterFirstUnlock --attribute kSecAttrComment='a=b' --attribute color=blue one/item
expect "L AfterFirstUnlock a=b blue" "$(for name in kSecAttrLabel kSecAttrAccessible kSecAttrComment color; do
    getfattr --absolute-names --only-values -n "user.$name" "$G/one/item"; echo; done | paste -sd' ')" "attributes"
expect "600 6" "$(stat -c '%a %s' "$G/one/item")" "mode and size"
add 0 access-groups/new/synchronizable/internet-passwords/h,protocol=https/me
same "$MNT/access-groups/new/synchronizable/internet-passwords/h,protocol=https/me"

# It exists: 20, and nothing is read.
printf other > "$IN"; commits_of 0 'add 20 one/item; said --replace; add 20 --label new one/item'
expect secret "$(cat "$G/one/item")" "after 20"
expect 'other' "$({ "$KEYCHAINFS" add one/item 2> /dev/null || cat; } < "$IN")" "standard input is not read"
mkdir "$G/dir"; add 29 generic-passwords/dir; add 29 --replace generic-passwords/dir
exec 7> "$G/one/pending"; add 20 one/pending; printf theirs >&7; exec 7>&-
expect theirs "$(cat "$G/one/pending")" "a name that another program was creating"
# Replaced: two commits if attributes are named, otherwise one; other attributes, reference and creation date stay.
before=$(getfattr --absolute-names -d -m- "$G/one/item" | grep -v -e Modification -e Label); commits_of 1 add 0 --replace one/item
same "$G/one/item"
commits_of 2 add 0 --replace --label M one/item
expect M "$(getfattr --absolute-names --only-values -n user.kSecAttrLabel "$G/one/item")" "a label"
expect "$before" "$(getfattr --absolute-names -d -m- "$G/one/item" | grep -v -e Modification -e Label)" "attributes after --replace"
add 0 --replace one/created; same "$G/one/created"

# Refused, and nothing exists afterwards.
tree() { find "$MNT" | sort; }
present=$(tree)
printf x > "$IN"; add 29 --attribute "note=$(head -c 70000 /dev/zero | tr '\0' x)" new/item; count=$(commits)
for attribute in kSecAttrNone=1 kSecClass=GenericPassword kSecAttrAccount=b kSecAttrService=b kSecAttrSynchronizable=1 kSecAttrPort=1 \
    kSecAttrAccessible=Never kSecAttrIsInvisible=2 kSecAttrCreationDate=2020-01-01T00:00:00Z kSecAttrTokenID=x label=x labl=x Comment=x; do
    add 29 --attribute "$attribute" new/item; said "${attribute%%=*}"
done
said 'Did you mean kSecAttrComment?'; add 29 --accessible sometimes new/item; said WhenPasscodeSetThisDeviceOnly
for text in x =x; do add 64 --attribute "$text" new/item; done; add 64 --label a --attribute kSecAttrLabel=b new/item
for empty in '' '\n'; do
    printf "$empty" > "$IN"; add 18 --no-newline new/item; said 'no secret'; add 18 --no-newline --replace one/item
done
: > "$IN"; add 18 new/item; add 18 --replace one/item
head -c $(((1 << 20) + 1)) /dev/zero > "$IN"; add 29 new/item; said '1 MiB'; add 29 --replace one/item
for item in a/b/c "a/$(printf '%0256d' 0)"; do add 29 "$item"; done
expect "$present" "$(tree)" "names after refusals"; expect "$count" "$(commits)" "commits of refusals"
expect other "$(cat "$G/one/item")" "the item after refusals"

# Two at the same time: one item, one secret, complete.
for round in $(seq "$(rounds 15)"); do
    codes=
    for secret in aaaaaaaa b; do
        { code=0; printf "$secret" | "$KEYCHAINFS" add "race$round/item" 2> /dev/null || code=$?
        echo "$secret $code" > "$CASE_DIR/code.$secret"; } &
    done
    wait
    expect "0 20" "$(cut -d' ' -f2 "$CASE_DIR"/code.* | sort -n | paste -sd' ')" "codes of two adds"
    expect "$(grep -h ' 0' "$CASE_DIR"/code.* | cut -d' ' -f1)" "$(cat "$G/race$round/item")" "the secret of the add that succeeded"
    for secret in aaaaaaaa b cccc; do printf "$secret" | "$KEYCHAINFS" add --replace "race$round/item" & done; wait
    case $(cat "$G/race$round/item") in aaaaaaaa | b | cccc) ;; *) fail "a mixture of secrets" ;; esac
done
# A directory that vanishes or appears in between.
(while [ ! -e "$CASE_DIR/stop" ]; do mkdir "$G/flicker" 2> /dev/null || true; rmdir "$G/flicker" 2> /dev/null || true; done) & flicker=$!
for round in $(seq "$(rounds 15)"); do
    printf x | "$KEYCHAINFS" add "flicker/item$round" || fail "add in a directory that others remove"
done
touch "$CASE_DIR/stop"; wait "$flicker"; expect "$(rounds 15)" "$(find "$G/flicker" -type f | wc -l)" "items in that directory"

# Killed while the commit waits for the disk, or before it: the complete secret or the state before it, never an empty item.
echo 300 > "$SLOW_DISK"; printf new > "$IN"
for pause in 0.02 0.05 0.1 0.2 0.3; do
    "$KEYCHAINFS" add "killed$pause/item" < "$IN" & add=$!; sleep $pause; kill -9 $add; wait $add 2> /dev/null || true
    "$KEYCHAINFS" add --replace one/item < "$IN" & add=$!; sleep $pause; kill -9 $add; wait $add 2> /dev/null || true
    case $(cat "$G/one/item") in other | new) ;; *) fail "--replace, killed: $(cat "$G/one/item")" ;; esac
done
rm "$SLOW_DISK"; pid=$(daemon)
for pause in 0.02 0.05 0.1 0.2 0.3; do
    [ ! -e "$G/killed$pause/item" ] || expect new "$(cat "$G/killed$pause/item")" "an item of a killed add"
done
# The daemon is killed during the commit: 17, and the state before it or the complete new one.
echo 2000 > "$SLOW_DISK"
"$KEYCHAINFS" add crash/item < "$IN" 2> "$ERR" & add=$!; sleep 0.5; kill -9 "$pid"; code=0; wait $add || code=$?
expect 17 "$code" "add while the daemon dies ($(cat "$ERR"))"; said 'has ended'
rm "$SLOW_DISK"; wait_until 10 eval '! is_mounted'
env LD_PRELOAD="$CASE_DIR/failing_disk.so" FAIL_SYNC="$FAIL_SYNC" "$KEYCHAINFS" mount "$MNT"
[ ! -e "$G/crash/item" ] || expect new "$(cat "$G/crash/item")" "after the crash"
# Deleted, or replaced by a rename, while it waits: the item that has the name then gets the secret.
for change in 'rm "$G/one/item"' 'printf saved > "$G/one/other"; mv "$G/one/other" "$G/one/item"'; do
    printf free > "$G/one/item"; exec 7< "$G/one/item"; flock -x 7; "$KEYCHAINFS" add --replace one/item < "$IN" 7<&- & add=$!; sleep 0.3
    eval "$change"; exec 7<&-; wait "$add" || fail "add --replace after '$change'"; same "$G/one/item"
done
# One error of the disk at the commit, which would succeed at the close: the old state.
# fails_on_disk UNDO ARGUMENT…: after UNDO again if another synchronization, such as that of a checkpoint, got the error.
fails_on_disk() {
    local undo=$1 got=0; shift
    for _ in 1 2 3 4 5; do
        got=0; echo > "$FAIL_SYNC"; "$KEYCHAINFS" add "$@" < "$IN" > "$CASE_DIR/out" 2> "$ERR" || got=$?
        [ ! -e "$FAIL_SYNC" ] || fail "no error of the disk"; [ "$got" = 0 ] || break
        eval "$undo"
    done
    expect 1 "$got" "add $* with an error of the disk ($(cat "$ERR"))"
}
old=$(cat "$G/one/item"); restore='printf "%s" "$old" > "$G/one/item"'
fails_on_disk "$restore" --replace one/item; said 'the next mount may find the new one'
expect "$(cat "$IN")" "$(cat "$G/one/item")" "the item before"; old=$(cat "$G/one/item"); printf newer > "$IN"
fails_on_disk "$restore" --replace one/item; fails_on_disk 'rm "$G/one/fresh"' one/fresh
expect "$old" "$(cat "$G/one/item")" "the secret after an error of the disk"
[ ! -e "$G/one/fresh" ] || fail "an item after an error of the disk"
add 0 --replace one/item; same "$G/one/item"
# Refused by a lock that another program holds: 1 after 10 s, the old secret.
printf free > "$IN"; add 0 --replace one/item; exec 7< "$G/one/item"; flock -x 7; start=$SECONDS; add 1 --replace one/item
said 'other programs'
[ $((SECONDS - start)) -ge 9 ] && [ $((SECONDS - start)) -le 20 ] || fail "not after 10 s"; exec 7<&-
expect free "$(cat "$G/one/item")" "after the lock"
