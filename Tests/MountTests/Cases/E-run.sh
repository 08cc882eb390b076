# scripts/run leaves a program that the shell finds, says how, and replaces no other program.
# users: user
# needs: run
. "${0%/*}/lib.sh"
MNT="$HOME/Keychain"
mkdir -p "$CASE_DIR/checkout/scripts" "$CASE_DIR/bin" "$CASE_DIR/.build/release"
cp "$CASE_DIR/run" "$CASE_DIR/checkout/scripts/run"
# Installation and build are replaced: they take minutes, and are tested in a fresh clone.
printf '#!/bin/sh\n' > "$CASE_DIR/checkout/scripts/install"
printf '#!/bin/sh\necho >> "%s"; echo "%s"\n' "$CASE_DIR/builds" "$CASE_DIR/.build/release" > "$CASE_DIR/checkout/scripts/build-release"
printf '#!/bin/sh\n' > "$CASE_DIR/bin/swift"
# `mount --create` derives its key at full cost.
printf '#!/bin/sh\n[ "$1" != mount ] || "%s" create --kdf test || exit\nexec "%s" "$@"\n' "$KEYCHAINFS" "$KEYCHAINFS" \
    > "$CASE_DIR/.build/release/keychainfs"
chmod +x "$CASE_DIR"/checkout/scripts/* "$CASE_DIR"/bin/* "$CASE_DIR"/.build/release/*
export PATH="$CASE_DIR/bin:$PATH"
link="$HOME/.local/bin/keychainfs"
run() { bash "$CASE_DIR/checkout/scripts/run" > "$CASE_DIR/said" 2>&1 < /dev/null || fail "scripts/run: $(cat "$CASE_DIR/said")"; }
says() { grep -qF -- "$1" "$CASE_DIR/said" || fail "no '$1' in: $(cat "$CASE_DIR/said")"; }
run
[ -L "$link" ] || fail "no program at $link: $(cat "$CASE_DIR/said")"
says "does not find $link yet. For this shell:"
says "export PATH=$HOME/.local/bin:\"\$PATH\""
says '>> ~/.profile'
# The command that it prints for this shell works.
eval "$(grep -m 1 '^  export PATH=' "$CASE_DIR/said")"
keychainfs status "$MNT" | grep -q unlocked || fail "the program that the shell finds gives no status"
tour=$(sed -n '/^  cd /,/^$/p' "$CASE_DIR/said")
# After an update it builds again, and does not interrupt the mount that is in use.
program="$CASE_DIR/.build/release/keychainfs"
! (HOME=home run) 2> /dev/null || fail "a relative home directory is accepted"; says "HOME is not an absolute path"
rm "$CASE_DIR/builds"; touch -d '+1 hour' "$program"; run; [ -s "$CASE_DIR/builds" ] || fail "no build while the keychain is mounted"
says "Your keychain is mounted at $MNT already."; says "keychainfs unmount $MNT && keychainfs mount $MNT"
is_mounted || fail "scripts/run has unmounted"
# The daemon of this build needs no restart.
touch -d '-1 hour' "$program"; run
says "is mounted at $MNT already"; ! grep -q 'earlier build' "$CASE_DIR/said" || fail "the same build: $(cat "$CASE_DIR/said")"
# The commands that it prints for a first item work, and leave nothing on the disk if no keychain is mounted.
bash -euo pipefail -c "$tour" > /dev/null || fail "the commands for a first item fail"
[ -s "$MNT/generic-passwords/example.com/alice" ] || fail "the commands for a first item store none: $tour"
keychainfs unmount "$MNT"; mkdir "$CASE_DIR/empty"
! (cd "$CASE_DIR/empty" && bash -c "$tour" > /dev/null 2>&1) || fail "the commands for a first item succeed without a mount"
expect "" "$(find "$CASE_DIR/empty" "$MNT" -mindepth 1)" "files on the disk"
rm "$KEYCHAIN"; run
says "Your shell finds the program: keychainfs is $link"
keychainfs unmount "$MNT"; rm "$KEYCHAIN"
# A profile that already adds the directory, as Debian's does.
export PATH="${PATH#"$HOME/.local/bin:"}"
printf 'PATH="$HOME/.local/bin:$PATH"\n' > "$HOME/.profile"; run
says 'The next login finds it'
# Another program of that name, and a link to one.
"$link" unmount "$MNT"; rm "$KEYCHAIN" "$link"; printf 'other\n' > "$CASE_DIR/other"; cp "$CASE_DIR/other" "$link"; run
says "$link is another program, and was not replaced"
expect other "$(cat "$link")" "the other program"
says "$CASE_DIR/.build/release"
"$KEYCHAINFS" unmount "$MNT"; rm "$KEYCHAIN"; ln -sf "$CASE_DIR/other" "$link"; run
says "$link is another program, and was not replaced"
expect "$CASE_DIR/other" "$(readlink "$link")" "the link to another program"
