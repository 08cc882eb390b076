# F5: editors save an item, and it stays the same item: label, class, creation date, reference. `check` lists the files
# that they leave.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
# saves NAME COMMAND...: the command changes 'old' into 'new' as the editor does for a user who types.
saves() {
    local name=$1; shift
    make_item; timeout 60 "$@" > "$CASE_DIR/said" 2>&1 < /dev/null || fail "$name ended with $?: $(cat "$CASE_DIR/said")"
    expect new "$(cat a)" "$name: contents"; same_item "$name"
    rm -f -- * .[!.]*
}
for copy in no yes auto; do
    for backup in nobackup backup; do
        saves "vim backupcopy=$copy $backup" vim -u NONE -i NONE -N -es \
            -c "set backupcopy=$copy $backup writebackup swapfile directory=. fsync" -c 's/old/new/' -c wq a
    done
done
saves "vim, two saves" vim -u NONE -i NONE -N -es -c 'set backupcopy=no backup' -c 's/old/newer/' -c w -c 's/newer/new/' -c wq a
for copying in nil t; do
    saves "emacs backup-by-copying $copying" emacs --batch -Q \
        --eval "(setq backup-by-copying $copying make-backup-files t create-lockfiles t)" \
        --eval '(progn (find-file "a") (goto-char 1) (search-forward "old") (replace-match "new") (save-buffer))'
done
saves "emacs, precious" emacs --batch -Q --eval '(setq file-precious-flag t)' \
    --eval '(progn (find-file "a") (goto-char 1) (search-forward "old") (replace-match "new") (save-buffer))'
# nano needs a terminal.
cat > "$CASE_DIR/nano.py" <<'PY'
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("nano", ["nano", *sys.argv[1:], "a"])
def type_keys(keys, until):
    os.write(terminal, keys)
    said, deadline = b"", time.monotonic() + 20
    while until not in said and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try: said += os.read(terminal, 65536)
            except OSError: return
type_keys(b"", b"old")
type_keys(b"\x0bnew\r", b"new")
type_keys(b"\x0f", b"Name to Write")
type_keys(b"\r", b"Wrote")
type_keys(b"\x18", b"never said")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
saves "nano" python3 "$CASE_DIR/nano.py" --ignorercfiles
saves "nano --backup" python3 "$CASE_DIR/nano.py" --ignorercfiles --backup
