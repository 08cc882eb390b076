# E8: git finds, stores and erases passwords of hosts through git-credential-keychainfs, with real git.
# users: both
# seconds: 20
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 PATH="$CASE_DIR:$PATH"; unset GIT_ASKPASS SSH_ASKPASS
ln -s keychainfs "$CASE_DIR/git-credential-keychainfs"; git config --global credential.helper keychainfs
I="$MNT/internet-passwords"
git_() { # OPERATION LINE…: git credential
    local operation=$1; shift; printf '%s\n' "$@" '' | git credential "$operation" 2> "$ERR"
}
password() { git_ fill "$@" | sed -n 's/^username=//p; s/^password=//p' | paste -sd' '; }
none() { ! git_ fill "$@" > "$OUT" || fail "a password for '$*': $(cat "$OUT")"; }
helper() { local operation=$1; shift; printf "$@" | "$CASE_DIR/git-credential-keychainfs" "$operation" 2> "$ERR"; }
H=(protocol=https host=example.com)
none "${H[@]}"; git_ approve "${H[@]}" username=amy password=geheim
expect geheim "$(cat "$I/example.com,protocol=https/amy")" "the stored item"; expect "amy geheim" "$(password "${H[@]}")" "fill"
expect "amy geheim" "$(password "${H[@]}" username=amy)" "fill for a user"; none "${H[@]}" username=bob
git config --global credential.helper '!keychainfs helper git-credential'; expect "amy geheim" "$(password "${H[@]}")" "without the link"
git config --global credential.helper keychainfs
# Protocol, host and port must be equal, letters as sent.
none protocol=http host=example.com; none protocol=https host=example.com:443; none protocol=https host=www.example.com; none protocol=https host=Example.com
# The port, also of an IPv6 address; a protocol without a constant.
git_ approve protocol=https host='[::1]:8443' username=u password=port; expect port "$(cat "$I/[::1],protocol=https,port=8443/u")" "with a port"
expect "u port" "$(password protocol=https host='[::1]:8443')" "fill with a port"; none protocol=https host='[::1]'
git_ approve protocol=gopher host=h username=u password=other; expect "u other" "$(password protocol=gopher host=h)" "another protocol"
# The path counts only if git sends one.
git config --global credential.useHttpPath true; git_ approve "${H[@]}" path=a/b.git username=amy password=ofpath
expect ofpath "$(cat "$I/example.com,protocol=https,path=a%2Fb.git/amy")" "with a path"
expect "amy ofpath" "$(password "${H[@]}" path=a/b.git)" "fill with a path"; none "${H[@]}" path=a/c.git
git config --global credential.useHttpPath false
# Without a user name: the item that was changed last.
git_ approve "${H[@]}" username=bob password=ofbob; expect "bob ofbob" "$(password "${H[@]}" path=x)" "the last change"
sleep 0.1; printf new | "$KEYCHAINFS" add --replace "internet-passwords/example.com,protocol=https/amy"
expect "amy new" "$(password "${H[@]}")" "the item that was changed last"
# An equal value is not written; another one replaces the secret and keeps the attributes.
setfattr -n user.kSecAttrLabel -v Amy "$I/example.com,protocol=https/amy"; before=$(status commits)
git_ approve "${H[@]}" username=amy password=new; expect "$before" "$(status commits)" "commits of an equal value"
git_ approve "${H[@]}" username=amy password=newer; expect newer "$(cat "$I/example.com,protocol=https/amy")" "the new value"
expect Amy "$(getfattr --only-values -n user.kSecAttrLabel "$I/example.com,protocol=https/amy")" "the label"
# Erase: only the password that was refused.
git_ reject "${H[@]}" username=amy password=wrong; [ -e "$I/example.com,protocol=https/amy" ] || fail "another password was erased"
for given in '' 'newe' 'newer '; do # An empty password, which git sends after an empty line at its prompt, is another one.
    helper erase 'protocol=https\nhost=example.com\nusername=amy\npassword=%s\n' "$given" || fail "erase with '$given'"
    [ -e "$I/example.com,protocol=https/amy" ] || fail "an item was erased with the password '$given'"
done
git_ reject "${H[@]}" username=amy password=newer; [ ! -e "$I/example.com,protocol=https/amy" ] || fail "not erased"
[ -e "$I/example.com,protocol=https/bob" ] || fail "another user was erased"; git_ reject "${H[@]}" username=none password=x
# An item of docker is not git's.
printf docker > "$I/example.com,protocol=https/carol"; setfattr -n user.kSecAttrLabel -v 'Docker Credentials' "$I/example.com,protocol=https/carol"
none "${H[@]}" username=carol; git_ reject "${H[@]}" username=carol; git_ approve "${H[@]}" username=carol password=mine
expect docker "$(cat "$I/example.com,protocol=https/carol")" "the item of docker"
# Values that the protocol cannot express are neither stored nor returned.
printf 'two\nlines' > "$I/example.com,protocol=https/dave"; none "${H[@]}" username=dave
before=$(find "$I" -type f | sort)
for input in 'protocol=https\nhost=h\nusername=u\r\npassword=p\n' 'protocol=https\nhost=h\nusername=u\npassword=p\0q\n' 'protocol=https\nhost=\nusername=u\npassword=p\n' \
    'host=h\nusername=u\npassword=p\n' 'protocol=https\nhost=h:\nusername=u\npassword=p\n' 'protocol=https\nhost=h:x1\nusername=u\npassword=p\n' \
    'protocol=https\nhost=h:99999\nusername=u\npassword=p\n' 'protocol=https\nhost=:1\nusername=u\npassword=p\n' 'protocol=https\nhost=h\npassword=p\n' \
    'protocol=https\nhost=h\nusername=u\n' 'protocol=https\nhost=h\nusername=u\npassword=\n' '' '\n' 'x\n' '=\n'; do
    for operation in get store erase; do
        helper "$operation" "$input" > "$OUT" || fail "$operation of '$input'"; [ ! -s "$OUT" ] || fail "an answer to '$input': $(cat "$OUT")"
    done
done
expect "$before" "$(find "$I" -type f | sort)" "items after bad input"
{ printf 'protocol=https\nhost=h\nusername='; head -c 1000000 /dev/zero | tr '\0' x; printf '\npassword=p\n'; } > "$CASE_DIR/long"
"$CASE_DIR/git-credential-keychainfs" store < "$CASE_DIR/long" > "$OUT" 2> "$ERR" || fail "1 MiB in a line"; grep -q 'too long' "$ERR" || fail "$(cat "$ERR")"
# The last of two hosts counts; no empty line at the end; what follows an empty line is not read; other operations do nothing.
helper store 'protocol=https\nhost=a\nhost=b\nusername=u\npassword=p' || fail "two hosts"; expect p "$(cat "$I/b,protocol=https/u")" "the last host"
helper store 'protocol=https\nhost=c\n\nusername=u\npassword=p\n' || fail "after an empty line"; [ ! -e "$I/c,protocol=https" ] || fail "after an empty line"
helper approve 'protocol=https\nhost=c\nusername=u\npassword=p\n' > "$OUT" || fail "another operation"; [ ! -s "$OUT" ] && [ ! -e "$I/c,protocol=https" ] || fail "another operation"
expect $'username=u\npassword=p\n.' "$(helper get 'protocol=https\nhost=b\n'; echo .)" "the answer"
# Locked, not mounted: no answer, no failure, and a message.
"$KEYCHAINFS" lock "$MNT"
for operation in get store erase; do
    helper "$operation" 'protocol=https\nhost=b\nusername=u\npassword=q\n' > "$OUT" || fail "$operation of a locked keychain"
    [ ! -s "$OUT" ] && grep -q unlock "$ERR" && ! grep -qe geheim "$ERR" || fail "$operation of a locked keychain: $(cat "$OUT" "$ERR")"
done
"$KEYCHAINFS" unlock "$MNT"; expect p "$(cat "$I/b,protocol=https/u")" "the item after the unlock"; unmount_keychain
helper get 'protocol=https\nhost=b\n' > "$OUT" || fail "get without a mount"; [ ! -s "$OUT" ] && grep -q mount "$ERR" || fail "$(cat "$OUT" "$ERR")"
