# C2 to C6: the recipes of docs/recipes.md and docs/services-and-login.md, with the programs that they are for: they work as pasted;
# while the keychain is locked or not mounted they fail and start nothing without its secret; another host, user or name gets nothing.
# needs: pages
# users: both
# seconds: 30
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
. "${0%/*}/pages.sh"
[ "$(id -u)" != 0 ] || make_accounts
recipes="$CASE_DIR/recipes.md" services="$CASE_DIR/services-and-login.md"
I="$MNT/internet-passwords" P="$MNT/generic-passwords"

# The hosts. curl and psql connect to them in place of example.com; programs of the pages record their start.
hosts="$CASE_DIR/hosts"; mkdir "$hosts"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=example.com -keyout "$hosts/key.pem" \
    -addext 'subjectAltName=DNS:example.com,DNS:other.example' -out "$hosts/cert.pem" 2> /dev/null
: > "$hosts/requests"
exec {input}> >(exec python3 -I "${0%/*}/hosts.py" "$hosts")
wait_until 20 test -s "$hosts/ports"
read -r https postgres ssh < "$hosts/ports"
printf 'cacert = "%s"\nconnect-to = "::127.0.0.1:%s"\nsilent\nshow-error\n' "$hosts/cert.pem" "$https" > "$HOME/.curlrc"
export PGHOSTADDR=127.0.0.1 PGPORT="$postgres" GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
for program in curl psql; do recorded "$program" "$(command -v "$program")"; done
recorded deploy sh -c "'printf %s \"\$API_TOKEN\" > $CASE_DIR/deployed'"
# Without root's rights, and below the directory of the case.
mkdir "$CASE_DIR/app"
recorded sudo bash -c "'exec \"\${@/#\/etc\/app/$CASE_DIR/app}\"'" sudo
requests() { tail -n 1 "$hosts/requests"; }
no_requests() { expect "" "$(cat "$hosts/requests")" "requests $1"; }

# A store of pass, with entries that differ in one character of a name only, and contents that a shell variable would change.
GNUPGHOME=$(mktemp -d /tmp/kcfs-gnupg.XXXXXX); export GNUPGHOME
end() { local code=$?; gpgconf --kill all || true; rm -rf "$GNUPGHOME"; (exit "$code") || remove_accounts; remove_accounts; }
trap end EXIT
gpg -q --batch --passphrase '' --quick-gen-key alice@example.com future-default default never 2> /dev/null
store="$HOME/.password-store"
entry() { mkdir -p "$(dirname "$store/$1")"; gpg -q --batch --trust-model always -r alice@example.com -o "$store/$1.gpg" -e; }
printf 'one\n' | entry a/b/c; printf 'two' | entry a.b/c; printf 'three\n\n' | entry '50% off'; printf 'fo\0ur\nnotes\n' | entry 'a%2Fb/c'
mkdir "$store/.git"; touch "$store/.git/x.gpg"

git config --global credential.helper store
create_keychain; mount_keychain
! block "$recipes" 1 console > /dev/null || fail "a block of recipes.md is not run"
works_always="git over https|Backups of your home directory"
run_page recipes.md "$works_always" "$works_always"

# The blocks as pasted into other shells.
for shell in "zsh -f -eu" "dash -eu"; do
    rm -r "${P:?}"/* "${I:?}"/*; number=0
    while text=$(block "$recipes" $((number + 1))); do
        number=$((number + 1))
        run_block "$shell" "$text" || fail "block $number of recipes.md fails in ${shell%% *}: $(cat "$CASE_DIR/said")"
    done
done
expect 'typed secret' "$(cat "$P/example.com/alice")" "a secret that was typed"
expect "$(cat "$P/api/token")" "$(cat "$CASE_DIR/deployed")" "the token of a program"
expect "600 $(cat "$P/api/token")" "$(stat -c %a "$CASE_DIR/app/token") $(cat "$CASE_DIR/app/token")" "the token of root"

# pass: every byte of each entry.
has() { printf "$2" | cmp - "$P/$1" || fail "entry of pass: $1"; }
has_entries() {
    has a%2Fb/c 'one\n'; has a.b/c two; has '50%25 off/50%25 off' 'three\n\n'; has a%252Fb/c 'fo\0ur\nnotes\n'
}
has_entries
# What cannot be stored is named, is not stored, and replaces nothing; the others are stored.
printf 'garbage' > "$store/garbage.gpg"; printf 'another\n' | entry '50% off/50% off'; printf 'x\n' | entry $'two\nlines'
printf 'five\n' | entry new/five
! run_block "$strict" "$(block_under "$recipes" "From pass")" || fail "entries that are not stored go unnoticed"
for name in garbage '50% off/50% off' 'two' 'a.b/c'; do
    grep -q "not stored.*: $name" "$CASE_DIR/said" || fail "$name is not named: $(cat "$CASE_DIR/said")"
done
grep -q '^1 entries stored, 7 not stored' "$CASE_DIR/said" || fail "counts: $(cat "$CASE_DIR/said")"
has new/five 'five\n'; has_entries; [ ! -e "$P/garbage" ] || fail "an empty item"
! ls "$P" | grep import || fail "a directory remains"
rm "$store/garbage.gpg" "$store"/two* "$store/50% off/50% off.gpg"; rm -r "${P:?}"/{a[.%],new,50}*; ln -s .. "$store/loop"
! run_block "$strict" "$(block_under "$recipes" "From pass")" || fail "a directory that find does not read goes unnoticed"
grep -q '^5 entries stored, 1 not stored' "$CASE_DIR/said" || fail "counts: $(cat "$CASE_DIR/said")"; rm "$store/loop"

# curl: only this host gets the password; a refusal by the server is a failure. Nothing is requested while locked.
text=$(block_under "$recipes" curl 2); secret=$(sed 's/.* //' "$I/example.com,protocol=https/netrc")
: > "$hosts/requests"; run_block "$strict" "$text" || fail "curl: $(cat "$CASE_DIR/said")"
expect report "$(cat "$CASE_DIR/said")" "the page"; expect "https example.com alice $secret" "$(requests)" "the request"
! run_block "$strict" "${text//https:\/\/example.com/https:\/\/other.example}" || fail "curl succeeds without a password"
expect "https other.example - -" "$(requests)" "a request to another host"
# cron: the previous report remains if the job fails.
job() { block_under "$services" cron 1 console | sed "s,/home/amy/,$HOME/,; s/^@daily //; s,https://example.com/report,https://$1,"; }
rm -f "$HOME/report"; run_block 'sh' "$(job example.com/report)" || fail "cron: $(cat "$CASE_DIR/said")"
expect report "$(cat "$HOME/report")" "the report of the job"; echo previous > "$HOME/report"
job_fails() {
    ! run_block sh "$(job "$1")" || fail "the job succeeds ($1)"; [ -s "$CASE_DIR/said" ] || fail "the job sends no mail ($1)"
    expect previous "$(cat "$HOME/report")" "the report of the failed job ($1)"
}
job_fails other.example/report
job_fails example.com/moved
"$KEYCHAINFS" lock "$MNT"; : > "$hosts/requests"; job_fails example.com/report; no_requests "by the job, locked"; "$KEYCHAINFS" unlock "$MNT"

# psql: only this host, database and user get the password.
text=$(block_under "$recipes" PostgreSQL 2); secret=$(sed 's/.*://' "$P/postgres/pgpass")
run_block "$strict" "$text" || fail "psql: $(cat "$CASE_DIR/said")"; expect "postgres alice app $secret" "$(requests)" "the login"
for change in s/db.example.com/other.example/ s/alice/mallory/ 's/ app / other /'; do
    : > "$hosts/requests"
    ! run_block "$strict" "$(sed "$change" <<< "$text")" || fail "psql succeeds without a password ($change)"
    # psql may end before the server notices that it gets no password.
    wait_until 10 test -s "$hosts/requests"
    expect "postgres - - -" "$(requests)" "a login with $change"
done

# git: only this host, protocol and user get the password, and only its first line; no other helper stores it.
D="$I/git.example.com,protocol=https"; mkdir -p "$D"; printf 'git secret\nurl=https://evil.example\n' > "$D/alice"
fill() { printf "$1\n\n" | git credential fill > "$CASE_DIR/filled" 2> "$CASE_DIR/said"; }
fill 'protocol=https\nhost=git.example.com' || fail "git: $(cat "$CASE_DIR/said")"
expect 'protocol=https host=git.example.com username=alice password=git secret' "$(paste -sd' ' "$CASE_DIR/filled")" "a credential of git"
git credential approve < "$CASE_DIR/filled"; [ ! -e "$HOME/.git-credentials" ] || fail "git has stored the password"
nothing() {
    ! fill "$1" || fail "git gets a credential for $1: $(cat "$CASE_DIR/filled")"
    [ ! -s "$CASE_DIR/filled" ] || fail "git gets a part of a credential for $1"
}
for foreign in 'protocol=https\nhost=evil.example' 'protocol=http\nhost=git.example.com' 'protocol=https\nhost=git.example.com:8443' \
    'protocol=https\nhost=x.git.example.com' 'protocol=https\nhost=git.example.com.evil.example' 'protocol=ssh\nhost=git.example.com' \
    'protocol=https\nhost=git.example.com\nusername=mallory' 'protocol=https\nhost=git.example.com\nusername=alice2'; do
    nothing "$foreign"
done
"$KEYCHAINFS" lock "$MNT"; nothing 'protocol=https\nhost=git.example.com'
grep -q 'Required key not available' "$CASE_DIR/said" || fail "git does not show why: $(cat "$CASE_DIR/said")"
"$KEYCHAINFS" unlock "$MNT"; printf '\nsecond\n' > "$D/alice"; nothing 'protocol=https\nhost=git.example.com'
rm "$D/alice"; nothing 'protocol=https\nhost=git.example.com'

# ssh: only this host is offered the key.
block_under "$recipes" ssh 1 text | sed "s,~/,$HOME/," > "$CASE_DIR/ssh_config"
! ssh -T -G -F "$CASE_DIR/ssh_config" other.example | grep Keychain || fail "another host is offered the key"
printf 'Host *\nHostName 127.0.0.1\nPort %s\nBatchMode yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n' "$ssh" \
    >> "$CASE_DIR/ssh_config"
by_ssh() { env -u SSH_AUTH_SOCK ssh -T -F "$CASE_DIR/ssh_config" host.example.com true; }
cp "$P/ssh/id_ed25519.pub" "$hosts/authorized"; key=$(cut -d' ' -f2 "$hosts/authorized")
expect executed "$(by_ssh 2> /dev/null < /dev/null)" "a command by ssh"
expect "ssh alice $key" "$(requests)" "the key that ssh has used"
"$KEYCHAINFS" lock "$MNT"; : > "$hosts/requests"
expect_code 255 by_ssh > "$CASE_DIR/said"
grep -q 'Required key not available' "$CASE_DIR/said" || fail "ssh does not show why: $(cat "$CASE_DIR/said")"
no_requests "by ssh, locked"; "$KEYCHAINFS" unlock "$MNT"

# A start script of root.
if [ "$(id -u)" = 0 ]; then
    recorded service cat
    line=$(sed -n 's/.*`\(secret=.*service\) …`.*/\1/p' "$services"); line=${line//\/home\/amy\/Keychain\/…/$P/api/token}
    [[ $line == *"$P/api/token"*service ]] || fail "the page has no start script: $line"
    run_block "$strict" "${line//amy/root}" || fail "start script: $(cat "$CASE_DIR/said")"
    expect "$(cat "$P/api/token")" "$(cat "$CASE_DIR/said")" "the secret of a service"
    fails_closed "start script, another user:" "" "${line//amy/$B}"
    while_locked "start script, locked:" "" "${line//amy/root}"
fi
