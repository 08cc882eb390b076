# E17: the forms of an item's name, and names that are refused: nothing is created, nothing is locked, no other file is read.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"
G="$MNT/generic-passwords"; mkdir "$G/web" "$G/keys" "$MNT/internet-passwords/host,port=80" "$MNT/access-groups/team"
mkdir "$MNT/synchronizable/generic-passwords/web" "$MNT/access-groups/team/synchronizable/internet-passwords/h"
printf 1 > "$G/web/amy"; printf 2 > "$G/keys/amy"; printf 3 > "$MNT/internet-passwords/host,port=80/amy"
printf 4 > "$MNT/synchronizable/generic-passwords/web/amy"; printf 5 > "$MNT/access-groups/team/synchronizable/internet-passwords/h/amy"
printf 6 > "$G/web/-rf"; printf 7 > "$G/web/a%2Fb"; printf 8 > "$G/web/a b"$'\u00fc'
OUT="$CASE_DIR/out"; HERE="$CASE_DIR/here"; mkdir -p "$HERE/web"; printf plain > "$HERE/web/amy"
# gives SECRET ITEM: also through add --replace, which writes the same file.
gives() {
    expect "$1" "$("$KEYCHAINFS" get -- "$2")" "get $2 in $PWD"
    printf '%s' "$1" | "$KEYCHAINFS" add --replace -- "$2" || fail "add --replace $2 in $PWD"
    expect "$1" "$("$KEYCHAINFS" get -- "$2")" "get $2 after its replacement"
}
# refused CODE ITEM TEXT
refused() {
    local code before
    before=$(find "$MNT" | sort; find "$HERE" -type f -exec cat {} +)
    for command in get add "add --replace"; do
        code=0
        # shellcheck disable=SC2086
        printf x | "$KEYCHAINFS" $command -- "$2" > "$OUT" 2> "$OUT.err" || code=$?
        expect "$1" "$code" "$command $2 ($(cat "$OUT" "$OUT.err"))"
        grep -qF -- "$3" "$OUT.err" || fail "$command $2: no '$3' in $(cat "$OUT.err")"
        [ ! -s "$OUT" ] || fail "$command $2 printed $(cat "$OUT")"
    done
    expect "$before" "$(find "$MNT" | sort; find "$HERE" -type f -exec cat {} +)" "files after $2"
    expect unlocked "$(status state)" "the keychain after $2"
}

# From outside: the default mount. A plain file of the same relative path is not read.
cd "$HERE"
gives 1 web/amy; gives 1 keychain:web/amy; gives 1 generic-passwords/web/amy; gives 1 keychain:generic-passwords/web/amy
gives 2 generic-passwords/keys/amy; gives 3 internet-passwords/host,port=80/amy; gives 4 synchronizable/generic-passwords/web/amy
gives 5 access-groups/team/synchronizable/internet-passwords/h/amy; gives 6 web/-rf; gives 7 web/a%2Fb; gives 8 "web/a b"$'\u00fc'
expect plain "$(cat web/amy)" "the plain file"
# A combining character after a slash.
mkdir "$MNT/internet-passwords/"$'\u0301h'; printf 9 > "$G/web/"$'\u0301x'; printf 0 > "$MNT/internet-passwords/"$'\u0301h/\u0301x'
gives 9 $'web/\u0301x'; gives 9 $'keychain:web/\u0301x'; gives 9 "$G/web/"$'\u0301x'; gives 0 $'internet-passwords/\u0301h/\u0301x'
# Paths.
gives 1 "$G/web/amy"; gives 1 "$MNT/../${MNT##*/}//generic-passwords/./web/x/../amy"; ln -s "$G" "$HERE/link"
ln -s "$G/web/amy" "$HERE/item"
gives 1 ./link/web/amy; gives 1 ./item; gives 1 "$HERE/link/web/amy"; cd web; gives 1 ../link/web/amy; gives 1 ../item
# Within the mount: from the working directory.
cd "$G/web"; gives 1 amy; gives 1 ./amy; gives 2 ../keys/amy; gives 2 keychain:generic-passwords/keys/amy; gives 1 keychain:web/amy
cd "$MNT"; gives 3 internet-passwords/host,port=80/amy
refused 29 web/amy 'items are in directories of generic-passwords'
# A mount point behind a link, and one with another name in the variable.
ln -s "$MNT" "$CASE_DIR/alias"; cd "$HERE"; KEYCHAINFS_MOUNT="$CASE_DIR/alias" gives 1 web/amy

# Refused.
for item in "$HERE/web/amy" ./web/amy /etc/passwd ../none/x ./none "$MNT/../passphrase" "$G/../../../passphrase"; do
    refused 17 "$item" 'not in a mounted keychain'
done
for item in generic-passwords internet-passwords/host amy keychain:amy "$G/web" "$G" ./link; do refused 29 "$item" 'not an item'; done
refused 29 generic-passwords/web 'contains its service'; refused 29 keys/amy 'items are in'; refused 29 identities/a/b 'items are in'
refused 29 "$MNT" 'items are in'; refused 29 a/b/c 'SERVICE/NAME'; refused 29 web/amy/c 'SERVICE/NAME'
for item in .keychainfs/x .keychainfs/lock .keychainfs/status "$MNT/.keychainfs/lock" keychain:.keychainfs/lock; do
    refused 29 "$item" 'control file'
done
for item in keychain:../x keychain:/etc/passwd keychain: web/../amy web/./amy web//amy web/ ../web/../../x/.. ; do
    case $item in ../*) refused 17 "$item" 'not in a mounted' ;; *) refused 29 "$item" "'.'" ;; esac
done
refused 29 "" empty
refused 29 a/%zz "Write '%25zz'"; refused 29 a%2f/b "Write 'a%2F'"; refused 29 web/50% "Write '50%25'"
refused 29 $'web/a\nb' "Write 'a%0Ab'"
refused 29 internet-passwords/h,port=80,protocol=http/a "Write 'h,protocol=http,port=80'"
refused 29 internet-passwords/h,colour=1/a 'the server, then'
long=$(printf '%0256d' 0); refused 29 "web/$long" '255 bytes'; refused 29 "$long/a" '255 bytes'
refused 29 $'web/\xff' 'not UTF-8'; refused 29 $'a\xff/b' 'not UTF-8'
cd "$G/web"; refused 29 ../../.keychainfs/lock 'control file'; refused 29 .. 'not an item'
refused 17 ../../../passphrase 'not in a mounted'
cd "$CASE_DIR"; unmount_keychain
for item in web/amy keychain:web/amy generic-passwords/keys/amy; do
    expect_code 17 "$KEYCHAINFS" get "$item" | grep -qF "No keychain is mounted at $MNT" || fail "$item without a mount"
done
expect_code 17 "$KEYCHAINFS" add "$G/web/amy" > /dev/null
[ -z "$(ls -A "$MNT")" ] || fail "a file below the mount point"
