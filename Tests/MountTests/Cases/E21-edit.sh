# E21: edit runs the user's editor on the file in the mount; vim, nano and emacs keep no copy elsewhere, also against their settings.
# users: both
# seconds: 15
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT" TERM=xterm; unset VISUAL EDITOR
G="$MNT/generic-passwords"; OLD=Canary$(od -An -N6 -tx1 /dev/urandom | tr -d ' '); NEW=${OLD}x; mkdir "$G/s" "$HOME/bak"
terminal() { python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" edit "$@" > "$OUT" 2>&1; }
content() { cat "$G/$1"; echo .; }
no_copies() {
    local found; found=$({ find "$CASE_DIR" -xdev -type f; find /tmp /var/tmp -xdev -maxdepth 1 -type f -user "$(id -u)"; } 2> /dev/null |
        grep -vxF -e "$OUT" -e "$CASE_DIR/keys" | xargs -d '\n' grep -l "$OLD" 2> /dev/null || true)
    [ -z "$found" ] || fail "$1 keeps copies: $found"; expect "$(ls "$G/s" | sort | paste -sd' ')" "$2" "the items after $1"
}
# vim: the settings of the user do not bring copies back, and no line feed is added.
printf '%s\n' 'set backup writebackup swapfile undofile backupdir=~/bak directory=~/bak undodir=~/bak updatecount=1 fixendofline' "set viminfo='100,<50" > "$HOME/.vimrc"
for editor in vim vi vim.basic; do
    printf '%s' "$OLD" > "$G/s/item"; printf 'Ax\033:wq\r' > "$CASE_DIR/keys"
    VISUAL="$editor -s $CASE_DIR/keys" terminal s/item -- || fail "$editor: $(cat "$OUT")"; ! grep -q warning "$OUT" || fail "a warning for $editor"
    expect "$NEW." "$(content s/item)" "the secret after $editor"; no_copies "$editor" item
done
printf 'A%s\033:w\r:wq\r' "$OLD" > "$CASE_DIR/keys"; EDITOR="vim -s $CASE_DIR/keys" terminal s/new -- || fail "vim: $(cat "$OUT")"
expect "$OLD." "$(content s/new)" "a new item of vim"; no_copies vim "item new"; rm "$G/s/new"
printf '%s\n' "$OLD" two > "$G/s/item"; printf 'Ax\033:wq\r' > "$CASE_DIR/keys"; EDITOR="vim -s $CASE_DIR/keys" terminal s/item --; expect "$NEW"$'\ntwo\n.' "$(content s/item)" "lines"
# nano and emacs.
printf 'set backup\nset backupdir "%s"\n' "$HOME/bak" > "$HOME/.nanorc"; printf '%s' "$OLD" > "$G/s/item"
EDITOR=nano terminal s/item -- 'Exit' $'x\x0f\r' 'Wrote' $'\x18' || fail "nano: $(cat "$OUT")"; ! grep -q warning "$OUT" || fail "a warning for nano"
expect "x$OLD." "$(content s/item)" "the secret after nano"; no_copies nano item
cat > "$HOME/hook.el" <<'EL'
(setq backup-directory-alist '(("." . "~/bak")) make-backup-files t require-final-newline t)
(add-hook 'find-file-hook (lambda () (insert "y") (save-buffer)))
EL
EDITOR="emacs --batch -l $HOME/hook.el" "$KEYCHAINFS" edit s/item > "$OUT" 2>&1 || fail "emacs: $(cat "$OUT")"; ! grep -q warning "$OUT" || fail "a warning for emacs"
expect "yx$OLD." "$(content s/item)" "the secret after emacs"; no_copies emacs item
# Any other command of a shell, with a warning; its exit code, its environment and umask; VISUAL before EDITOR, an empty one counts as not set.
cat > "$CASE_DIR/own" <<'SH'
[ "$#" = 2 ] && printf '%s %s %s' "$1" "$(umask)" "${SWIFT_BACKTRACE-none}" > "$2"; exit 7
SH
umask 027; got=0; VISUAL='' EDITOR="bash '$CASE_DIR/own' 'a b'" "$KEYCHAINFS" edit s/item 2> "$ERR" || got=$?; umask 022
expect 7 "$got" "the exit code of the editor"; grep -q 'warning: the editor may keep copies' "$ERR" || fail "$(cat "$ERR")"; expect 'a b 0027 none' "$(cat "$G/s/item")" "the editor's arguments"
got=0; VISUAL=/nonexistent EDITOR=true "$KEYCHAINFS" edit s/item 2> "$ERR" || got=$?; expect 127 "$got" "no such editor"
got=0; EDITOR='kill -9 $$ ;' "$KEYCHAINFS" edit s/item 2> "$ERR" || got=$?; expect 137 "$got" "a killed editor"
# A new service is removed unless it has an item then.
EDITOR=true "$KEYCHAINFS" edit fresh/item 2> "$ERR"; [ ! -e "$G/fresh" ] || fail "an empty service stays"
EDITOR="sh -c 'echo x > \"\$1\"' sh" "$KEYCHAINFS" edit fresh/item 2> "$ERR"; expect x "$(cat "$G/fresh/item")" "the item in a new service"
EDITOR="sh -c 'echo x > \"\$1\"' sh" "$KEYCHAINFS" edit "fresh/a b;\$(touch $CASE_DIR/executed)" 2> "$ERR" && fail "a name with a slash"
EDITOR="sh -c 'echo x > \"\$1\"' sh" "$KEYCHAINFS" edit 'fresh/a b;$(touch executed)' 2> "$ERR"; expect x "$(cat "$G/fresh/a b;\$(touch executed)")" "a name with the signs of a shell"
[ ! -e executed ] || fail "a name was executed"
# Ctrl-C at the terminal is for the editor.
printf 'trap "echo caught" INT; echo ready; sleep 20 & wait; echo "$1"; kill $! 2> /dev/null; exit 0\n' > "$CASE_DIR/own"
EDITOR="bash $CASE_DIR/own" python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" edit s/item -- ready '^C' > "$OUT" 2>&1 || fail "Ctrl-C: $(cat "$OUT")"; grep -q caught "$OUT" || fail "$(cat "$OUT")"
# Before the editor is started.
export EDITOR="touch $CASE_DIR/started;"
code 29 '' edit s; code 29 '' edit a/b/c; code 17 '' edit /etc/hostname; code 64 '' edit; mkdir "$MNT/internet-passwords/d"; code 29 '' edit internet-passwords/d
"$KEYCHAINFS" lock "$MNT"; code 23 'unlock' edit s/item; code 23 'unlock' edit none/none; unmount_keychain
code 17 '' edit s/item; mount_keychain -o ro; code 22 'read-only' edit s/item; code 22 'read-only' edit none/none; unmount_keychain
[ ! -e "$CASE_DIR/started" ] || fail "the editor was started"
