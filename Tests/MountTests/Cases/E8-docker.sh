# E8: docker finds, stores and erases passwords of registries through docker-credential-keychainfs, with docker's client.
# users: both
# seconds: 20
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT" PATH="$CASE_DIR:$PATH"
ln -s keychainfs "$CASE_DIR/docker-credential-keychainfs"
I="$MNT/internet-passwords"; LABEL='Docker Credentials'; NONE='credentials not found in native keychain'
helper() { local operation=$1; shift; printf "$@" | docker-credential-keychainfs "$operation" > "$OUT" 2> "$ERR"; }
refused() { # TEXT OPERATION FORMAT…: 1, the message on both outputs, never the text for "not found"
    local text=$1 result=0; shift; helper "$@" || result=$?
    expect 1 "$result" "$*"; grep -q "$text" "$OUT" || fail "$*: $(cat "$OUT")"; expect "keychainfs: $(cat "$OUT")" "$(cat "$ERR")" "both outputs of $*"
    ! grep -qe "$NONE" -e geheim "$OUT" "$ERR" || fail "$*: $(cat "$OUT")"
}
missing() { ! helper get "$1" || fail "a password for $1: $(cat "$OUT")"; expect "$NONE" "$(cat "$OUT")" "no password for $1"; [ ! -s "$ERR" ] || fail "$(cat "$ERR")"; }
store() { helper store '{"ServerURL":"%s","Username":"%s","Secret":"%s"}\n' "$@" || fail "store $*: $(cat "$OUT")"; [ ! -s "$OUT" ] || fail "output of store"; }
got() { helper get "$1" || fail "get $1: $(cat "$OUT")"; jq -r '.ServerURL + " " + .Username + " " + .Secret' "$OUT"; }
label() { getfattr --only-values -n user.kSecAttrLabel "$1"; }
HUB=https://index.docker.io/v1/
missing "$HUB"; helper list '' || fail list; expect '{}' "$(cat "$OUT")" "an empty list"
store "$HUB" amy geheim; expect geheim "$(cat "$I/index.docker.io,protocol=https,path=%2Fv1%2F/amy")" "the stored item"
expect "$LABEL" "$(label "$I/index.docker.io,protocol=https,path=%2Fv1%2F/amy")" "the label"
expect "$HUB amy geheim" "$(got "$HUB")" "the answer"; expect "$HUB amy geheim" "$(got "  $HUB\n")" "with a line feed"
missing https://index.docker.io/v1; missing index.docker.io; missing http://index.docker.io/v1/; missing https://index.docker.io:443/v1/
store 127.0.0.1:5998 '<token>' 'a\"\\\u00e9\n'; expect $'a"\\é\n.' "$(cat "$I/127.0.0.1,port=5998/<token>"; echo .)" "escapes"
expect $'127.0.0.1:5998 <token> a"\\é' "$(got 127.0.0.1:5998)" "the answer with escapes"
helper list '' || fail list; expect '{"127.0.0.1:5998":"<token>","https://index.docker.io/v1/":"amy"}' "$(cat "$OUT")" "the list"
# An equal value is not written. A server has one item: a store removes those of other users, after its own is written.
before=$(status commits); store "$HUB" amy geheim; expect "$before" "$(status commits)" "commits of an equal value"
store "$HUB" bob new; expect "$HUB bob new" "$(got "$HUB")" "another user"; expect bob "$(ls "$I/index.docker.io,protocol=https,path=%2Fv1%2F")" "the items"
# An item of git, or without a label, is not docker's.
mkdir "$I/example.com" "$I/example.com,protocol=https" "$I/example.com,protocol=http"; for d in "" ,protocol=https ,protocol=http; do printf git > "$I/example.com$d/amy"; done
setfattr -n user.kSecAttrLabel -v Amy "$I/example.com/amy"
for url in example.com https://example.com http://example.com; do
    missing "$url"; helper erase "$url" || fail "erase $url"; [ ! -s "$OUT" ] && [ ! -s "$ERR" ] || fail "output of erase"
    refused 'another program' store '{"ServerURL":"%s","Username":"amy","Secret":"geheim"}' "$url"
done
store https://example.com carol mine; expect "https://example.com carol mine" "$(got https://example.com)" "the item next to git's"
helper list '' || fail list; expect '{"127.0.0.1:5998":"<token>","https://example.com":"carol","https://index.docker.io/v1/":"bob"}' "$(cat "$OUT")" "the list"
helper erase https://example.com || fail erase; missing https://example.com; expect git "$(cat "$I/example.com,protocol=https/amy")" "git's item"
for d in "" ,protocol=http; do expect git "$(cat "$I/example.com$d/amy")" "git's item"; done
# Bad requests change nothing.
before=$(find "$I" -type f | sort; status commits)
for json in '' '{}' '[]' 'x' '{"ServerURL":"h","Username":"u"}' '{"ServerURL":"h","Username":"u","Secret":""}' '{"ServerURL":"h","Username":"","Secret":"geheim"}' \
    '{"ServerURL":"","Username":"u","Secret":"geheim"}' '{"ServerURL":"https://","Username":"u","Secret":"geheim"}' '{"ServerURL":"h:99999","Username":"u","Secret":"geheim"}' \
    '{"ServerURL":"h","Username":"u","Secret":"geheim","Secret":"geheim"}' '{"ServerURL":"h","Username":"u","Secret":"geheim\\u0000"}' \
    '{"ServerURL":"h","Username":"u\\n","Secret":"geheim"}' '{"ServerURL":"h\\t","Username":"u","Secret":"geheim"}' '{"ServerURL":"h","Username":"u","Secret":"geheim\0"}' \
    '{"ServerURL":"h","Username":"u","Secret":"\xff"}' '{"ServerURL":"h","Username":"u","Secret":1}' '{"ServerURL":"h","Username":"u","Secret":"geheim"}x'; do
    refused . store "$json"
done
for operation in get erase; do refused 'address' "$operation" ''; refused 'address' "$operation" 'h:x'; refused 'address' "$operation" 'a\nb'; refused 'address' "$operation" '\xff'; done
head -c 10485760 /dev/zero | tr '\0' ' ' > "$CASE_DIR/long"
for operation in get store erase; do
    ! docker-credential-keychainfs "$operation" < "$CASE_DIR/long" > "$OUT" 2> "$ERR" || fail "$operation of 10 MiB"; grep -q 'too long' "$OUT" || fail "$(cat "$OUT")"
done
refused 'Operations' version ''; refused 'Operations' --help ''
after=$(find "$I" -type f | sort; status commits); [ "$before" = "$after" ] || fail "bad requests changed: $(diff <(echo "$before") <(echo "$after") | tr '\n' ' ')"
long=$(head -c 300 /dev/zero | tr '\0' x); refused 'too long' store '{"ServerURL":"h","Username":"%s","Secret":"geheim"}' "$long"; [ ! -e "$I/h" ] || fail "the directory of a refused name"
# What docker cannot receive is a failure, never "not found".
printf '\xff' > "$I/index.docker.io,protocol=https,path=%2Fv1%2F/bob"; refused 'UTF-8' get "$HUB"; : > "$I/index.docker.io,protocol=https,path=%2Fv1%2F/bob"; refused 'empty' get "$HUB"
helper erase "$HUB" || fail erase; missing "$HUB"; helper erase "$HUB" || fail "a second erase"; [ ! -s "$OUT" ] && [ ! -s "$ERR" ] || fail "output of erase"
# A client: its login finds no password, asks for one and stores it; its logout erases it.
exec {input}> >(exec python3 -I "${0%/*}/registry.py" "$CASE_DIR/port" amy geheim); wait_until 10 test -s "$CASE_DIR/port"
host=127.0.0.1:$(cat "$CASE_DIR/port"); export REGISTRY_AUTH_FILE="$CASE_DIR/auth.json"; echo "{\"credHelpers\":{\"$host\":\"keychainfs\"}}" > "$REGISTRY_AUTH_FILE"
login() { skopeo login --tls-verify=false "$@" "$host" > "$OUT" 2> "$ERR"; }
! login < /dev/null || fail "a login without a password"
login -u amy --password-stdin <<< geheim || fail "login: $(cat "$OUT" "$ERR")"; ! grep -qe geheim "$REGISTRY_AUTH_FILE" || fail "the password is in the file"
expect geheim "$(cat "$I/127.0.0.1,port=${host#*:}/amy")" "the item of the login"; expect "$host amy geheim" "$(got "$host")" "the answer after the login"
expect amy "$(skopeo login --get-login "$host")" "the login"; login < /dev/null || fail "a login with the stored password: $(cat "$OUT" "$ERR")"
! login -u bob --password-stdin <<< wrong || fail "another password"; expect "$host amy geheim" "$(got "$host")" "after a refused login"
"$KEYCHAINFS" lock "$MNT"; ! login < /dev/null || fail "a login with a locked keychain"; grep -q unlock "$OUT" "$ERR" || fail "$(cat "$OUT" "$ERR")"; "$KEYCHAINFS" unlock "$MNT"
skopeo logout "$host" > "$OUT" 2> "$ERR" || fail "logout: $(cat "$OUT" "$ERR")"; missing "$host"; exec {input}>&-
# Locked or not mounted: a failure, never "not found".
store "$host" amy geheim; "$KEYCHAINFS" lock "$MNT"
for operation in get erase; do refused unlock "$operation" "$host"; done; refused unlock list ''; refused unlock store '{"ServerURL":"%s","Username":"amy","Secret":"geheim"}' "$host"
refused unlock store '{"ServerURL":"%s","Username":"bob","Secret":"geheim"}' "$host"; refused unlock get unknown.example; refused unlock store '{"ServerURL":"unknown.example","Username":"bob","Secret":"geheim"}'
"$KEYCHAINFS" unlock "$MNT"; expect "$host amy geheim" "$(got "$host")" "after the unlock"; expect amy "$(ls "$I/127.0.0.1,port=${host#*:}")" "the items after the unlock"
unmount_keychain; for operation in get erase list; do refused mount "$operation" "$host"; done; refused mount store '{"ServerURL":"%s","Username":"amy","Secret":"geheim"}' "$host"
