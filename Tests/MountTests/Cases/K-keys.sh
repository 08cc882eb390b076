# ssh-keygen, ssh-add and openssl on keys in a mount.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/keys"; mkdir "$D"; cd "$D"
ssh-keygen -q -t ed25519 -N '' -C test -f "$D/id"
expect 600 "$(stat -c %a id)" "mode of a private key"
ssh-keygen -y -f id | cut -d' ' -f1-2 | cmp - <(cut -d' ' -f1-2 id.pub) || fail "the public key does not fit"
ssh-keygen -q -p -N phrase -f id; ssh-keygen -q -p -P phrase -N '' -f id
eval "$(ssh-agent -s)" > /dev/null
ssh-add -q id || { kill "$SSH_AGENT_PID"; fail "ssh-add"; }
expect 1 "$(ssh-add -l | wc -l)" "keys in the agent"
kill "$SSH_AGENT_PID"
openssl genpkey -algorithm ed25519 -out tls.key 2>/dev/null
openssl req -x509 -new -key tls.key -subj /CN=test -days 1 -out tls.crt
openssl x509 -in tls.crt -noout -subject | grep -q test || fail openssl
openssl pkey -in tls.key -pubout | cmp - <(openssl x509 -in tls.crt -noout -pubkey) || fail "key and certificate differ"
