# L5: a slot change is atomic: if it is killed at any time, the old or the new secret opens the slot, and not both.
. "${0%/*}/lib.sh"
cd "$CASE_DIR"
opens() { "$KEYCHAINFS" check --passphrase-file "$1" > /dev/null 2>&1; }
now=p0; (umask 077; echo 'secret 0' > p0); create_keychain --passphrase-file p0
"$KEYCHAINFS" mount "$MNT" --passphrase-file p0; mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/x"; unmount_keychain
old=0 new=0
# About as long as a change takes, so that the kill comes during one.
create_keychain --keychain ./tried --passphrase-file p0; began=${EPOCHREALTIME/./}; "$KEYCHAINFS" slot change 1 --keychain ./tried --passphrase-file p0 --new-passphrase-file p0 2> /dev/null
took=$((${EPOCHREALTIME/./} - began))
rest() { local delay=$((took * (n + 1) / 12 + RANDOM % (took / 10))); sleep "$((delay / 1000000)).$(printf %06d $((delay % 1000000)))"; }
for n in $(seq "$(rounds 14)"); do
    (umask 077; echo "secret $n" > "p$n")
    if [ $((n % 2)) = 0 ]; then
        # The daemon executes it.
        "$KEYCHAINFS" mount "$MNT" --passphrase-file $now; victim=$(daemon)
        "$KEYCHAINFS" slot change 1 --passphrase-file $now --new-passphrase-file "p$n" "$MNT" 2> /dev/null & client=$!
        rest; kill -KILL "$victim"; wait $client || true
        wait_until 10 eval '! is_mounted'
    else
        "$KEYCHAINFS" slot change 1 --passphrase-file $now --new-passphrase-file "p$n" 2> /dev/null & client=$!
        rest; kill -KILL $client 2> /dev/null || true; wait $client || true
    fi
    if opens $now; then
        ! opens "p$n" || fail "both secrets open"
        old=$((old + 1))
    else
        opens "p$n" || fail "no secret opens"
        now=p$n new=$((new + 1))
    fi
done
echo "$old times the old secret, $new times the new one"
"$KEYCHAINFS" check --passphrase-file $now > /dev/null || fail "check"
"$KEYCHAINFS" mount "$MNT" --passphrase-file $now; expect x "$(cat "$MNT/generic-passwords/s/x")" "the item"
