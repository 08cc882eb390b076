# E8: ssh and git get a passphrase, an account and a password through keychainfs-askpass; the prompt never selects the item, and a
# question gets no answer.
# users: both
# seconds: 10
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"; ln -s keychainfs "$CASE_DIR/keychainfs-askpass"
ASKPASS="$CASE_DIR/keychainfs-askpass"; D="$MNT/generic-passwords/s"; I="$MNT/internet-passwords/example.com,protocol=https"; mkdir "$D" "$I"
printf 'geheim\nnotes\n' > "$D/key"; printf 'geheim2' > "$I/amy@example.com"; : > "$D/empty"; printf '\nx' > "$D/second"; printf x > "$D/a%0Ab"
# asked CODE TEXT ITEM PROMPT…: the answer, or a message with that text
asked() {
    local wanted=$1 text=$2 item=$3 got=0; shift 3
    env ${item:+KEYCHAINFS_ASKPASS_ITEM="$item"} "$ASKPASS" "$@" > "$OUT" 2> "$ERR" < /dev/null || got=$?
    expect "$wanted" "$got" "exit code for '$*' ($(cat "$ERR"))"; require_documented "$wanted"
    if [ "$wanted" = 0 ]; then expect "$text"$'\n.' "$(cat "$OUT"; echo .)" "answer to '$*'"; return; fi
    [ ! -s "$OUT" ] || fail "an answer to '$*': $(cat "$OUT")"
    grep -qF -- "$text" "$ERR" && ! grep -q geheim "$ERR" || fail "the message of '$*': $(cat "$ERR")"
}
for prompt in "Enter passphrase for key 'x': " '' 'Password for s/empty: ' --help --version -h 'keychain:s/empty' 'user name: '; do
    asked 0 geheim s/key "$prompt"
done
asked 0 geheim s/key; asked 0 geheim "$D/key" x; asked 0 geheim2 internet-passwords/example.com,protocol=https/amy@example.com 'Password: '
asked 0 amy@example.com "$I/amy@example.com" "Username for 'https://example.com': "; asked 0 key s/key 'Username: '
asked 64 KEYCHAINFS_ASKPASS_ITEM '' 'Password: '; asked 64 '' s/key one two
for question in 'Are you sure you want to continue connecting (yes/no/[fingerprint])? ' 'Overwrite (yes/no)?'; do
    asked 1 'Answer it at a terminal' s/key "$question"
done
SSH_ASKPASS_PROMPT=confirm asked 1 'Answer it' s/key 'Allow use of key x?'; SSH_ASKPASS_PROMPT=none asked 1 'Answer it' s/key 'Confirm user presence'
asked 29 'is empty' s/empty x; asked 29 'is empty' s/second x; asked 26 '' s/none x; asked 29 'not one line' "$D/a%0Ab" 'Username: '
asked 17 '' /etc/passwd x
expect geheim "$(KEYCHAINFS_ASKPASS_ITEM=s/key "$KEYCHAINFS" helper askpass 'Password: ')" "the command"

# ssh: a key with a passphrase, without a terminal.
export SSH_ASKPASS="$ASKPASS" SSH_ASKPASS_REQUIRE=force
ssh-keygen -q -t ed25519 -N geheim -f "$CASE_DIR/id"; unset DISPLAY
public() { setsid -w ssh-keygen -y -f "$CASE_DIR/id" < /dev/null 2> "$ERR"; }
expect "$(cut -d' ' -f1,2 "$CASE_DIR/id.pub")" "$(KEYCHAINFS_ASKPASS_ITEM=s/key public | cut -d' ' -f1,2)" "the key that ssh-keygen opens"
! KEYCHAINFS_ASKPASS_ITEM=s/none public > "$OUT" || fail "a key without a passphrase"
# git: user name and password of an item.
fill() { printf 'protocol=https\nhost=example.com\n\n' | GIT_ASKPASS="$ASKPASS" GIT_CONFIG_NOSYSTEM=1 setsid -w git credential fill; }
wanted=$'host=example.com\npassword=geheim2\nprotocol=https\nusername=amy@example.com'
export KEYCHAINFS_ASKPASS_ITEM=internet-passwords/example.com,protocol=https/amy@example.com
expect "$wanted" "$(fill 2> "$ERR" | sort)" "git ($(cat "$ERR"))"
# Locked: no answer, and git has no password.
"$KEYCHAINFS" lock "$MNT"; asked 23 'unlock' s/key x; ! GIT_TERMINAL_PROMPT=0 fill > "$OUT" 2> "$ERR" || fail "git with a locked keychain: $(cat "$OUT")"
! public > "$OUT" || fail "ssh-keygen with a locked keychain"
